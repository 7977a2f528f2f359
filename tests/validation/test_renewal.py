"""Sections of the validation page can be measured again without the rest."""

import pytest

from roamcast.errors import UserError
from validation.age import outdated, tell
from validation.report import Check, Section, name_apart, page, renew, tally

PREFACE = "# Validation\n\n{tally}\n\n{apart}\n\nBehaviour of our side: {behaviour}.\nMore.\n"


def section(title, *differences, third=""):
    checks = [
        Check(f"{title} {n}", "delivery", [0.5, 0.5 + d], [0.5, 0.5], 0.01, False, third)
        for n, d in enumerate(differences)
    ]
    return Section(title, "ns-2", "Text.", checks, third)


def written(*sections, behaviour):
    checks = [check for each in sections for check in each.checks]
    preface = PREFACE.format(tally=tally(checks), apart=name_apart(checks), behaviour=tell(behaviour))
    return page(sections, preface)


def test_a_renewed_page_is_the_page_of_all_sections_with_a_note():
    old, kept, new = section("DSR", 0.0, 0.1), section("Cells", 0.0, third="ns-2"), section("DSR", 0.0, 0.002)
    before, after = {"dsr": "0" * 8, "cells": "1" * 8}, {"dsr": "2" * 8, "cells": "1" * 8}
    renewed = renew(written(kept, old, behaviour=before), [new], tell(after), "Note.")
    assert renewed.replace("\nNote.", "") == written(kept, new, behaviour=after)
    assert outdated(renewed, after) is None


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
