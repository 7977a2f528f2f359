"""Claims under all readings: where each holds, and which choices decide it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from roamcast.campaign.claims import Claim
from roamcast.campaign.reading_combinations import combination_name
from roamcast.campaign.readings import Combination, Reading, changes, choose
from roamcast.campaign.tables import HELD, NOT_HELD, NOT_JUDGED, UNDECIDED
from roamcast.report.numbers import short
from roamcast.report.result import CampaignResult, JudgedClaim

MOST_DECIDING = 2
"Maximum number of choices that are combined to explain a verdict."


@dataclass(frozen=True)
class ClaimReadings:
    """A claim with its verdict under each combination, and the choices that decide the verdict."""

    name: str
    claim: Claim
    judged: list[JudgedClaim]
    "The judged claim by combination."
    deciding: tuple[str, ...] | None
    "The readings by which decided verdicts differ; empty if none do, None if no one or two alone do."
    readings: dict[str, Reading]
    combinations: list[Combination]

    @property
    def answer(self) -> str:
        """Return under which readings the claim holds, in words."""
        verdicts = Counter(judged.verdict for judged in self.judged)
        count = len(self.judged)
        if verdicts[HELD] == count:
            return f"held under all {count} readings"
        if verdicts[NOT_JUDGED] == count:
            return "not judged"
        held = f"held under {verdicts[HELD] or 'none'} of {count} readings"
        if verdicts[HELD] and self.deciding:
            held += f": where {' or '.join(self._where_held())}"
        return f"{held}; undecided under {verdicts[UNDECIDED]}" if verdicts[UNDECIDED] else held

    @property
    def decided_by(self) -> str:
        """Return which choices decide the claim, in words."""
        verdicts = {judged.verdict for judged in self.judged}
        if len(verdicts) == 1:
            return "nothing: all readings agree"
        if self.deciding is None:
            return "no one choice, nor a pair that can be told from other pairs"
        if not self.deciding:
            return "nothing: all readings that are decided agree"
        text = " and ".join(self.deciding)
        return f"{text}, where decided" if UNDECIDED in verdicts else text

    def _where_held(self) -> list[str]:
        """Return the alternatives of the deciding choices under which the claim holds."""
        assert self.deciding, "asked only where something decides"
        found: dict[str, None] = {}
        for combination, judged in zip(self.combinations, self.judged, strict=True):
            if judged.verdict == HELD:
                chosen = (f"{name} is {combination[name]}" for name in self.deciding)
                found[" with ".join(chosen)] = None
        return list(found)

    @property
    def marks(self) -> list[str]:
        """Return the verdict under each combination as a mark; for an undecided one, where the value lies."""
        marks = {HELD: "+", NOT_HELD: "-", NOT_JUDGED: "?"}
        return [marks.get(judged.verdict) or ("(+)" if judged.inside else "(-)") for judged in self.judged]

    @property
    def numbers(self) -> list[str]:
        """Return the value under each combination; the range if there are several checks."""
        parts = []
        for judged in self.judged:
            values = [check["ours"] for check in judged.checks if check["ours"] is not None]
            ends = [short(value) for value in (min(values), max(values))] if values else ["-", "-"]
            parts.append(ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}")
        return parts


def judge_readings(result: CampaignResult) -> list[ClaimReadings]:
    """Return every claim of a campaign that was judged under its readings, in the order of the file."""
    campaign = result.campaign
    rows = choose(campaign.readings, campaign.design)
    by_name = {judged.name: judged for judged in result.claims}
    found = []
    for name, claim in campaign.claims.items():
        under = [by_name.get(combination_name(name, number)) for number in range(len(rows))]
        judged = [one for one in under if one is not None]
        if len(judged) == len(rows):
            found.append(ClaimReadings(name, claim, judged, decide(rows, judged), campaign.readings, rows))
    return found


def decide(rows: Sequence[Combination], judged: Sequence[JudgedClaim]) -> tuple[str, ...] | None:
    """Return the fewest readings whose alternatives determine the verdict; None if no one or two do.

    Undecided verdicts are left aside.
    """
    pairs = zip(rows, judged, strict=True)
    decided = [(row, one.verdict) for row, one in pairs if one.verdict != UNDECIDED]
    return _deciding_choices([row for row, _ in decided], [verdict for _, verdict in decided])


def _deciding_choices(rows: Sequence[Combination], verdicts: Sequence[str]) -> tuple[str, ...] | None:
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


def describe_combination(readings: dict[str, Reading], combination: Combination) -> str:
    """Return a combination in words: the choices that differ from the default."""
    changed = changes(readings, combination)
    return ", ".join(f"{name} {chosen}" for name, chosen in changed.items()) or "the defaults"
