"""Claims under all readings: where each holds, and which choices decide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from roamcast.campaign.claims import Claim
from roamcast.campaign.readings import Combination, Reading, changes, choose
from roamcast.campaign.rereading import name_under
from roamcast.report.result import Judged, Result
from roamcast.report.rounding import short

MOST_DECIDING = 2
"Choices that are looked at together for what decides a claim."


@dataclass(frozen=True)
class Reread:
    """A claim with its verdict under each combination, and the choices by which the verdicts differ."""

    name: str
    claim: Claim
    judged: list[Judged]
    "By combination."
    deciding: tuple[str, ...] | None
    "The readings that decide; empty if nothing need, None if no one or two alone do."
    surely: bool
    "Whether they tell all verdicts apart, not only those that the intervals agree with."
    readings: dict[str, Reading]
    combinations: list[Combination]

    @property
    def answer(self) -> str:
        """Under which readings it holds, in words."""
        verdicts = [judged.verdict for judged in self.judged]
        count = len(verdicts)
        if set(verdicts) == {"held"}:
            return f"held under all {count} readings"
        if set(verdicts) == {"not held"}:
            return f"held under none of {count} readings"
        if set(verdicts) == {"not judged"}:
            return "not judged"
        held = verdicts.count("held")
        if not self.deciding:
            return f"held under {held} of {count} readings"
        places = self._where_held()
        return (
            f"held under {held} of {count} readings: where {' or '.join(places)}"
            if places
            else (f"held under {held} of {count} readings, surely under none")
        )

    @property
    def decided_by(self) -> str:
        """What decides it, in words."""
        if len({judged.verdict for judged in self.judged}) == 1:
            return "nothing: all readings agree"
        if self.deciding is None:
            return "no one choice, nor a pair that can be told from other pairs"
        if not self.deciding:
            return "nothing surely: verdicts differ within their intervals"
        told = " and ".join(self.deciding)
        return told if self.surely else f"{told}; other verdicts differ within their intervals"

    def _where_held(self) -> list[str]:
        """The alternatives of what decides under which it holds."""
        assert self.deciding, "asked only where something decides"
        found: dict[str, None] = {}
        for combination, judged in zip(self.combinations, self.judged, strict=True):
            if judged.verdict == "held" and (self.surely or judged.sure):
                chosen = (f"{name} is {combination[name]}" for name in self.deciding)
                found[" with ".join(chosen)] = None
        return list(found)

    @property
    def marks(self) -> list[str]:
        """The verdict under each combination as a mark: in brackets if it is within the interval."""
        marks = {"held": "+", "not held": "-", "not judged": "?"}
        return [
            marks[judged.verdict]
            if judged.sure or judged.verdict == "not judged"
            else f"({marks[judged.verdict]})"
            for judged in self.judged
        ]

    @property
    def numbers(self) -> list[str]:
        """Our number under each combination; the least and the most where there are several checks."""
        told = []
        for judged in self.judged:
            values = [check["ours"] for check in judged.checks if check["ours"] is not None]
            ends = [short(value) for value in (min(values), max(values))] if values else ["-", "-"]
            told.append(ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}")
        return told


def reread(result: Result) -> list[Reread]:
    """Every claim of a campaign that was judged under its readings, in the file's order."""
    campaign = result.campaign
    rows = choose(campaign.readings, campaign.design)
    by_name = {judged.name: judged for judged in result.claims}
    found = []
    for name, claim in campaign.claims.items():
        under = [by_name.get(name_under(name, number)) for number in range(len(rows))]
        judged = [one for one in under if one is not None]
        if len(judged) == len(rows):
            deciding, surely = decide(rows, judged)
            found.append(Reread(name, claim, judged, deciding, surely, campaign.readings, rows))
    return found


def decide(rows: Sequence[Combination], judged: Sequence[Judged]) -> tuple[tuple[str, ...] | None, bool]:
    """The fewest readings by whose alternatives the verdicts can be told apart, if they can be told.

    If no one or two do, verdicts within their intervals are left aside: chance may have decided those.
    """
    verdicts = [one.verdict for one in judged]
    found = _tell_apart(rows, verdicts)
    if found is not None:
        return found, True
    sure = [(row, one.verdict) for row, one in zip(rows, judged, strict=True) if one.sure]
    return _tell_apart([row for row, _ in sure], [verdict for _, verdict in sure]), False


def _tell_apart(rows: Sequence[Combination], verdicts: Sequence[str]) -> tuple[str, ...] | None:
    if len(set(verdicts)) <= 1:
        return ()
    for size in range(1, MOST_DECIDING + 1):
        able = []
        for names in combinations(rows[0], size):
            seen: dict[tuple[str, ...], str] = {}
            chosen = (tuple(row[name] for name in names) for row in rows)
            if all(
                seen.setdefault(key, verdict) == verdict
                for key, verdict in zip(chosen, verdicts, strict=True)
            ):
                able.append(names)
        if able:
            return able[0] if len(able) == 1 else None
    return None


def tell_combination(readings: dict[str, Reading], combination: Combination) -> str:
    """A combination in words: what is not the default."""
    changed = changes(readings, combination)
    return ", ".join(f"{name} {chosen}" for name, chosen in changed.items()) or "the defaults"
