"""Readings: what a paper leaves open, each choice with its alternatives, and which of them to try together.

A claim may hold under one reading of a paper and not under another. Every combination of alternatives is
tried where they are few. Where they are many, a covering design stands for them: the defaults, each other
alternative alone, so that what one choice does can be seen, and rows that together contain every pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from math import prod
from typing import Annotated

from pydantic import Field

from roamcast.campaign.section import CampaignSection, Setting, Settings, disagreement, member

Combination = dict[str, str]
"The chosen alternative of every reading."


class Alternative(CampaignSection):
    """One way to read a passage, and what it changes."""

    says: str = ""
    "What it takes the passage to mean, in our words."
    set: Settings = Field(default_factory=dict)
    "Settings of the scenario, as in a sweep's `set`; they win over it."
    parameters: dict[str, Settings] = Field(default_factory=dict)
    "By label: parameters of that protocol, as in its own `parameters`; they win over those."
    only_with: dict[str, str] = Field(default_factory=dict)
    "By reading: the alternative without which this one makes no sense."


class Reading(CampaignSection):
    """One choice that a paper leaves open."""

    open: Annotated[str, Field(min_length=1)]
    "What the passage leaves open, in our words."
    section: str = ""
    "Where the passage is."
    default: str
    "The alternative that holds wherever no other is asked for; chosen from the text, not from results."
    because: str = ""
    "What in the text speaks for the default."
    alternatives: Annotated[dict[str, Alternative], Field(min_length=2)]


class ReadingDesign(CampaignSection):
    """What `--readings` makes of the campaign."""

    most: Annotated[int, Field(ge=1)] = 16
    "Every combination is judged if there are no more than this; else a covering design of them."
    seeds: Annotated[int, Field(ge=1)] | None = None
    "Seeds at each point; those of the campaign if absent."
    points: Annotated[int, Field(ge=1)] | None = None
    "Values kept on each axis, ends included; all if absent."
    set: Settings = Field(default_factory=dict)
    "Settings changed at every point."


def defaults(readings: Mapping[str, Reading]) -> Combination:
    """The combination that the text suggests."""
    return {name: reading.default for name, reading in readings.items()}


def is_sensible(readings: Mapping[str, Reading], combination: Mapping[str, str]) -> bool:
    """Whether every alternative stands with those that it needs."""
    return all(
        combination[other] == needed
        for name, chosen in combination.items()
        for other, needed in readings[name].alternatives[chosen].only_with.items()
    )


def choose(readings: Mapping[str, Reading], design: ReadingDesign) -> list[Combination]:
    """The combinations to be judged, the default first, then those that change least."""
    if not readings:
        return [{}]
    if prod(len(reading.alternatives) for reading in readings.values()) <= design.most:
        alternatives = (reading.alternatives for reading in readings.values())
        every = (dict(zip(readings, chosen, strict=True)) for chosen in product(*alternatives))
        rows = [row for row in every if is_sensible(readings, row)]
    else:
        rows = cover_pairs(readings)
    return sorted(rows, key=lambda row: (len(changes(readings, row)), rows.index(row)))


def changes(readings: Mapping[str, Reading], combination: Mapping[str, str]) -> dict[str, str]:
    """Where a combination is not the default."""
    return {name: chosen for name, chosen in combination.items() if chosen != readings[name].default}


def cover_pairs(readings: Mapping[str, Reading]) -> list[Combination]:
    """The defaults, each other alternative alone, and rows until every sensible pair stands in one."""
    standard = defaults(readings)
    rows: list[Combination] = [standard]
    for name, reading in readings.items():
        for alternative in reading.alternatives:
            needed = _close(readings, {name: alternative})
            if needed is not None:
                row = standard | needed
                if is_sensible(readings, row) and row not in rows:
                    rows.append(row)
    uncovered = dict.fromkeys(_pairs_of_all(readings))
    for row in rows:
        _strike(uncovered, row)
    while uncovered:
        started = _close(readings, dict(next(iter(uncovered))))
        completed = None if started is None else _complete(readings, started, uncovered)
        if completed is None:
            del uncovered[next(iter(uncovered))]  # these two exclude each other
        else:
            rows.append(completed)
            _strike(uncovered, completed)
    return rows


Pair = tuple[tuple[str, str], tuple[str, str]]


def _pairs_of_all(readings: Mapping[str, Reading]) -> Iterator[Pair]:
    for (one, first), (other, second) in combinations(readings.items(), 2):
        for a, b in product(first.alternatives, second.alternatives):
            yield (one, a), (other, b)


def _strike(uncovered: dict[Pair, None], row: Combination) -> None:
    for pair in combinations(row.items(), 2):
        uncovered.pop(pair, None)


def _close(readings: Mapping[str, Reading], started: Combination) -> Combination | None:
    """`started` with all that it needs; None if that contradicts itself."""
    row, todo = dict(started), list(started)
    while todo:
        name = todo.pop()
        for other, needed in readings[name].alternatives[row[name]].only_with.items():
            if other not in row:
                row[other] = needed
                todo.append(other)
            elif row[other] != needed:
                return None
    return row


def _complete(
    readings: Mapping[str, Reading], row: Combination, uncovered: Mapping[Pair, None]
) -> Combination | None:
    """Choose what is not chosen yet so that as many pairs as possible are new; a default where none is."""
    for name, reading in readings.items():
        if name in row:
            continue
        candidates: list[tuple[int, int, Combination]] = []
        for alternative in (reading.default, *reading.alternatives):
            closed = _close(readings, row | {name: alternative})
            if closed is not None:
                candidates.append((-_gain(readings, closed, uncovered), len(candidates), closed))
        if not candidates:
            return None
        row = min(candidates)[2]
    ordered = {name: row[name] for name in readings}
    return ordered if is_sensible(readings, ordered) else None


def _gain(readings: Mapping[str, Reading], row: Combination, uncovered: Mapping[Pair, None]) -> int:
    ordered = [(name, row[name]) for name in readings if name in row]
    return sum(pair in uncovered for pair in combinations(ordered, 2))


def overrides(
    readings: Mapping[str, Reading], combination: Mapping[str, str]
) -> tuple[dict[str, Setting], dict[str, dict[str, Setting]]]:
    """What a combination sets in the scenario, and in the parameters of each label."""
    settings: dict[str, Setting] = {}
    parameters: dict[str, dict[str, Setting]] = {}
    for name, chosen in combination.items():
        alternative = readings[name].alternatives[chosen]
        settings |= alternative.set
        for label, given in alternative.parameters.items():
            parameters[label] = parameters.get(label, {}) | given
    return settings, parameters


def check_readings(
    readings: Mapping[str, Reading], labels: Iterable[str], axes: Mapping[str, Iterable[str]]
) -> None:
    """Raise what does not agree with the rest of the campaign: its labels, and the axes of its sweeps."""
    labels = list(labels)
    for name, reading in readings.items():
        place = f"readings.{name}"
        member(reading.default, reading.alternatives, f"{place}.default", "alternative")
        for key, alternative in reading.alternatives.items():
            here = f"{place}.alternatives.{key}"
            for label in alternative.parameters:
                member(label, labels, f"{here}.parameters.{label}", "protocol")
            for other, needed in alternative.only_with.items():
                if member(other, readings, f"{here}.only_with", "reading") == name:
                    raise disagreement(f"{here}.only_with", "an alternative cannot need its own reading")
                known = readings[other].alternatives
                member(needed, known, f"{here}.only_with.{other}", f"alternative of {other!r}")
            for setting in alternative.set:
                for sweep, keys in axes.items():
                    if setting in keys:
                        problem = f"is an axis of sweep {sweep!r}, which a reading must not flatten"
                        raise disagreement(f"{here}.set.{setting}", problem)
    if readings and not is_sensible(readings, defaults(readings)):
        raise disagreement("readings", "a default stands with an alternative that it cannot stand with")
