"""Checks and the page that tells them: what was compared, both numbers, the bound, and whether it held."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One comparison: it passes if ours is within the bound of theirs."""

    subject: str
    quantity: str
    ours: float
    theirs: float
    bound: float
    relative: bool
    note: str = ""
    "A third opinion, where there is one."

    @property
    def difference(self) -> float:
        """Ours less theirs, as a share of theirs where the bound is one."""
        apart = self.ours - self.theirs
        return apart / self.theirs if self.relative else apart

    @property
    def passed(self) -> bool:
        """Whether it holds; a difference that is not a number does not."""
        return abs(self.difference) <= self.bound

    def cells(self) -> tuple[str, ...]:
        """The check as a row of a table."""
        if self.relative:
            apart, bound = f"{100 * self.difference:+.1f} %", f"{100 * self.bound:g} %"
        else:
            apart, bound = f"{self.difference:+.3f}", f"{self.bound:g}"
        numbers = (f"{self.ours:.4g}", f"{self.theirs:.4g}")
        return (
            self.subject,
            self.quantity,
            *numbers,
            apart,
            bound,
            "pass" if self.passed else "FAIL",
            self.note,
        )


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
    head = ["what", "quantity", "ours", section.theirs, "difference", "bound", "", section.third]
    width = 8 if section.third else 7
    rows = [head[:width], ["---"] * width] + [list(check.cells()[:width]) for check in section.checks]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def page(sections: Iterable[Section], preface: str) -> str:
    """The whole validation page."""
    parts = [preface]
    for section in sections:
        held = sum(check.passed for check in section.checks)
        parts.append(f"## {section.title}\n\n{section.text}\n\n{held} of {len(section.checks)} hold.\n")
        parts.append(table(section) + "\n")
    return "\n".join(parts)
