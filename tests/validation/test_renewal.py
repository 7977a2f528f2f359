"""Sections of the validation page can be measured again without the rest."""

from pathlib import Path

import pytest

from roamcast.errors import UserError
from validation.age import outdated, tell
from validation.nearest import tell_nearest
from validation.report import NEAREST, ROW, Check, Section, name_apart, page, renew, tally

PREFACE = "# Validation\n\n{tally}\n\n{apart}\n\n{nearest}\n\nBehaviour of our side: {behaviour}.\nMore.\n"


def section(title, *differences, third=""):
    checks = [
        Check(f"{title} {n}", "delivery", [0.5, 0.5 + d], [0.5, 0.5], 0.01, False, third)
        for n, d in enumerate(differences)
    ]
    return Section(title, "ns-2", "Text.", checks, third)


def written(*sections, behaviour):
    checks = [check for each in sections for check in each.checks]
    preface = PREFACE.format(
        tally=tally(checks),
        apart=name_apart(checks),
        nearest=tell_nearest(check.cells() for check in checks),
        behaviour=tell(behaviour),
    )
    return page(sections, preface)


def test_a_renewed_page_is_the_page_of_all_sections_with_a_note():
    old, kept, new = section("DSR", 0.0, 0.1), section("Cells", 0.0, third="ns-2"), section("DSR", 0.0, 0.002)
    before, after = {"dsr": "0" * 8, "cells": "1" * 8}, {"dsr": "2" * 8, "cells": "1" * 8}
    renewed = renew(written(kept, old, behaviour=before), [new], tell(after), "Note.")
    assert renewed.replace("\nNote.", "") == written(kept, new, behaviour=after)
    assert outdated(renewed, after) is None


def row(difference, bound="0.01", verdict="open", runs="10"):
    return ["far", "delivery", runs, "0.5", "0.5", difference, "no", bound, verdict]


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        # Twice the interval takes four times the runs.
        (row("+0.0000 ± 0.0200"), "far (delivery): 30 more (agrees)."),
        (row("-0.0300 ± 0.0400"), "far (delivery): 30 more (APART)."),
        (row("-2.00 ± 10.00 %", "6 %", runs="9 of 10"), "far (delivery): 48 more (agrees)."),
        (row("+0.0100 ± 0.0200"), "no row is open."),
        (row("+0.0000 ± 0.0050", verdict="agrees"), "no row is open."),
        (row("+0.0000"), "no row is open."),
    ],
)
def test_an_open_row_says_how_many_runs_would_decide_it(cells, result):
    assert tell_nearest([cells]).endswith(f": {result}")


def test_the_open_rows_that_need_the_fewest_runs_are_named_first():
    rows = [row(f"+0.0000 ± 0.0{margin}00") for margin in (9, 2, 5, 3, 8, 4, 7)]
    result = tell_nearest(rows)
    assert [part.split(": ")[-1].split()[0] for part in result.split("; ")] == [
        "30",
        "80",
        "150",
        "240",
        "480",
    ]


def test_the_page_names_the_open_rows_of_its_own_tables():
    text = Path("docs/validation.md").read_text(encoding="utf-8")
    rows = [found.split(" | ") for found in ROW.findall(text)]
    assert NEAREST.findall(text) == [tell_nearest(rows)]


def test_a_second_renewal_of_the_same_families_replaces_the_note_of_the_first():
    text = written(section("DSR", 0.0), behaviour={"dsr": "0" * 8})
    for code in ("a", "b"):
        text = renew(text, [section("DSR", 0.0)], "", f"Later, with code {code}: `dsr`.")
    assert "code a" not in text
    assert text.count("code b: `dsr`.") == 1


def test_a_row_that_comes_apart_is_named_and_counted():
    old, new = section("DSR", 0.0), section("DSR", 0.0)
    new.checks.append(Check("far", "delivery", [0.9, 0.9], [0.5, 0.5], 0.01, False))
    renewed = renew(written(old, section("Cells", 0.0), behaviour={}), [new], "", "Note.")
    assert "2 of 3 agree, 1 are apart; 1 of 3 differ significantly" in renewed
    assert "Apart: far (delivery)." in renewed


def test_a_section_that_the_page_does_not_have_is_refused():
    with pytest.raises(UserError, match="no section 'GPSR'"):
        renew(written(section("DSR", 0.0), behaviour={}), [section("GPSR", 0.0)], "", "Note.")
