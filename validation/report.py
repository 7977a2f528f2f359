"""Checks and the page that tells them: what was compared, both numbers, their difference, the bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Literal

from scipy.special import stdtrit

from roamcast.errors import UserError
from validation.nearest import tell_nearest

Runs = float | Sequence[float]
"One number, or one a run: the first of ours beside the first of theirs, on the same movement."

Verdict = Literal["agrees", "open", "APART"]
"The interval of the difference lies within the bound, across it, or beyond it."


def _runs(value: Runs) -> list[float]:
    return [float(value)] if isinstance(value, int | float) else [float(one) for one in value]


@dataclass(frozen=True)
class Check:
    """One comparison of our runs with theirs, and how far apart their means may be."""

    subject: str
    quantity: str
    ours: Runs
    theirs: Runs
    bound: float
    relative: bool
    note: str = ""
    "A third opinion, where there is one."
    planned: int = 0
    "Runs a side that were to be done, where that is known."

    @property
    def means(self) -> tuple[float, float]:
        """Of ours and of theirs."""
        return fmean(_runs(self.ours)), fmean(_runs(self.theirs))

    @property
    def difference(self) -> float:
        """Ours less theirs, as a share of theirs where the bound is one."""
        ours, theirs = self.means
        return (ours - theirs) * self._scale

    @property
    def margin(self) -> float:
        """Half of the 95 % interval of the difference; nan of a single run.

        Runs are paired if there are as many on both sides; against a known value ours alone scatter.
        """
        ours, theirs = _runs(self.ours), _runs(self.theirs)
        if len(ours) < 2:
            return nan
        if len(theirs) not in (1, len(ours)):
            raise ValueError(f"{len(ours)} runs cannot be paired with {len(theirs)}")
        apart = [one - other for one, other in zip(ours, theirs * (len(ours) // len(theirs)), strict=True)]
        return student(len(apart) - 1) * stdev(apart) / sqrt(len(apart)) * abs(self._scale)

    @property
    def differs(self) -> bool:
        """Whether chance alone would hardly make such a difference: zero is not in its interval."""
        return abs(self.difference) > self.margin

    @property
    def verdict(self) -> Verdict:
        """What the interval says, or the difference of single runs; one that is no number is apart."""
        apart, margin = abs(self.difference), 0.0 if isnan(self.margin) else self.margin
        if apart + margin <= self.bound:
            return "agrees"
        return "open" if apart - margin <= self.bound else "APART"

    @property
    def _scale(self) -> float:
        theirs = self.means[1]
        return 1.0 if not self.relative else 1 / theirs if theirs else nan

    def _count(self) -> str:
        done = len(_runs(self.ours))
        return f"{done} of {self.planned}" if done < self.planned else str(done)

    def cells(self) -> tuple[str, ...]:
        """The check as a row of a table."""
        percent = 100 if self.relative else 1
        places, unit = (".2f", " %") if self.relative else (".4f", "")
        apart = f"{percent * self.difference:+{places}}"
        if isnan(self.margin):
            said = ""
        else:
            apart += f" ± {percent * self.margin:{places}}"
            said = "differs" if self.differs else "no"
        return (
            self.subject,
            self.quantity,
            self._count(),
            *(f"{mean:.4g}" for mean in self.means),
            apart + unit,
            said,
            f"{percent * self.bound:g}{unit}",
            self.verdict,
            self.note,
        )


def student(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t."""
    return float(stdtrit(freedom, 0.975))


@dataclass(frozen=True)
class Section:
    """Checks of one kind, and what a reader should know of them."""

    title: str
    theirs: str
    "What the second number is."
    text: str
    checks: list[Check]
    third: str = ""
    "What the notes are."


def table(section: Section) -> str:
    """The section's checks as a Markdown table."""
    head = [
        "what",
        "quantity",
        "runs",
        "ours",
        section.theirs,
        "difference",
        "significant",
        "bound",
        "",
        section.third,
    ]
    width = 10 if section.third else 9
    rows = [head[:width], ["---"] * width] + [list(check.cells()[:width]) for check in section.checks]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def tally(checks: list[Check]) -> str:
    """How many agree, are open or apart, and how many differ more than chance explains."""
    found = [check.verdict for check in checks]
    text = f"{found.count('agrees')} of {len(checks)} agree"
    text += "".join(
        f", {found.count(verdict)} {is_} {verdict.lower()}"
        for verdict, is_ in (("open", "stay"), ("APART", "are"))
        if verdict in found
    )
    judged = [check for check in checks if not isnan(check.margin)]
    differ = sum(check.differs for check in judged)
    if not judged:
        return f"{text}."
    return f"{text}; {differ} of {len(judged)} differ significantly (expected by chance: 1 in 20)."


def name_apart(checks: list[Check]) -> str:
    """The rows that are apart, by name; their sections say why."""
    rows = [f"{check.subject} ({check.quantity})" for check in checks if check.verdict == "APART"]
    return f"Apart: {'; '.join(rows)}." if rows else "No row is apart."


def page(sections: Iterable[Section], preface: str) -> str:
    """The whole validation page."""
    parts = [preface]
    for section in sections:
        text = tally(section.checks) if section.checks else "*Not measured yet with this code.*"
        parts.append(f"## {section.title}\n\n{section.text}\n\n{text}\n")
        if section.checks:
            parts.append(table(section) + "\n")
    return "\n".join(parts)


ROW = re.compile(r"^\| (?!what \||---)(.*) \|$", re.MULTILINE)
TALLY = re.compile(r"^\d+ of \d+ agree.*$", re.MULTILINE)
APART = re.compile(r"^(?:Apart: |No row is apart).*$", re.MULTILINE)
NEAREST = re.compile(r"^Nearest to a verdict.*$", re.MULTILINE)
BEHAVIOUR = re.compile(r"^Behaviour of our side: .*$", re.MULTILINE)


def renew(written: str, sections: Iterable[Section], behaviour: str, note: str) -> str:
    """Return a page with some sections replaced, its counts taken from all tables, and a note on what was
    renewed."""
    preface, *blocks = written.split("\n## ")
    titles = [block.split("\n", 1)[0] for block in blocks]
    for section in sections:
        if section.title not in titles:
            raise UserError(
                f"the page has no section {section.title!r}; run `python -m validation` as a whole"
            )
        blocks[titles.index(section.title)] = page([section], "").removeprefix("\n## ")
    rows = [row.split(" | ") for block in blocks for row in ROW.findall(block)]
    preface = TALLY.sub(_tally_of_rows(rows), preface, count=1)
    apart = [f"{row[0]} ({row[1]})" for row in rows if row[8].rstrip(" |") == "APART"]
    preface = APART.sub(f"Apart: {'; '.join(apart)}." if apart else "No row is apart.", preface, count=1)
    preface = NEAREST.sub(lambda _: tell_nearest(rows), preface, count=1)
    what = note.rpartition(": ")[2]
    preface = "\n".join(line for line in preface.split("\n") if line.rpartition(": ")[2] != what)
    preface = BEHAVIOUR.sub(f"Behaviour of our side: {behaviour}.\n{note}", preface, count=1)
    return "\n## ".join([preface, *blocks])


def _tally_of_rows(rows: list[list[str]]) -> str:
    """Return the counts of verdicts of written rows, as `tally` does of checks."""
    found = [row[8].rstrip(" |") for row in rows]
    text = ", ".join(
        f"{found.count(verdict)} {rest}"
        for verdict, rest in (
            ("agrees", f"of {len(rows)} agree"),
            ("open", "stay open"),
            ("APART", "are apart"),
        )
        if verdict in found
    )
    judged = [row[6] for row in rows if row[6]]
    differ = judged.count("differs")
    return f"{text}; {differ} of {len(judged)} differ significantly (expected by chance: 1 in 20)."
