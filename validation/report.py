"""Checks and the page that tells them: what was compared, both numbers, their difference, the bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import fmean, stdev

Runs = float | Sequence[float]
"One number, or one a run: the first of ours beside the first of theirs, on the same movement."


def _runs(value: Runs) -> list[float]:
    return [float(value)] if isinstance(value, int | float) else [float(one) for one in value]


@dataclass(frozen=True)
class Check:
    """One comparison: it passes if the mean of ours is within the bound of that of theirs."""

    subject: str
    quantity: str
    ours: Runs
    theirs: Runs
    bound: float
    relative: bool
    note: str = ""
    "A third opinion, where there is one."

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
    def passed(self) -> bool:
        """Whether it holds; a difference that is not a number does not."""
        return abs(self.difference) <= self.bound

    @property
    def _scale(self) -> float:
        theirs = self.means[1]
        return 1.0 if not self.relative else 1 / theirs if theirs else nan

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
            *(f"{mean:.4g}" for mean in self.means),
            apart + unit,
            said,
            f"{percent * self.bound:g}{unit}",
            "pass" if self.passed else "FAIL",
            self.note,
        )


def student(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t."""
    table = (
        12.706,
        4.303,
        3.182,
        2.776,
        2.571,
        2.447,
        2.365,
        2.306,
        2.262,
        2.228,
        2.201,
        2.179,
        2.160,
        2.145,
    )
    return table[freedom - 1] if freedom <= len(table) else 1.96 + 2.6 / freedom


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
        "ours",
        section.theirs,
        "difference",
        "significant",
        "bound",
        "",
        section.third,
    ]
    width = 9 if section.third else 8
    rows = [head[:width], ["---"] * width] + [list(check.cells()[:width]) for check in section.checks]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def tally(checks: list[Check]) -> str:
    """How many hold, and how many differ more than chance explains."""
    held = sum(check.passed for check in checks)
    judged = [check for check in checks if not isnan(check.margin)]
    differ = sum(check.differs for check in judged)
    return f"{held} of {len(checks)} hold." + (
        f" {differ} of {len(judged)} differ significantly; by chance alone one in twenty would."
        if judged
        else ""
    )


def page(sections: Iterable[Section], preface: str) -> str:
    """The whole validation page."""
    parts = [preface]
    for section in sections:
        parts.append(f"## {section.title}\n\n{section.text}\n\n{tally(section.checks)}\n")
        parts.append(table(section) + "\n")
    return "\n".join(parts)
