"""Readings: choices that a paper leaves open, with their alternatives, and the combinations to evaluate.

A claim may hold under one reading of a paper and not under another. If there are few combinations of
alternatives, all are evaluated. Otherwise a covering design is used: the defaults, each other alternative
alone, which shows the effect of one choice, and combinations that together contain every pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from math import prod
from typing import Annotated

from pydantic import Field

from roamcast.campaign.section import (
    CampaignSection,
    MetricName,
    Setting,
    Settings,
    disagreement,
    member,
)

Combination = dict[str, str]
"The selected alternative of every reading."


class Alternative(CampaignSection):
    """One interpretation of a passage, and the settings that it changes."""

    says: str = ""
    "The interpretation in our own words."
    set: Settings = Field(default_factory=dict)
    "Settings of the scenario; they take precedence over a sweep's `set`."
    parameters: dict[str, Settings] = Field(default_factory=dict)
    "Parameters by protocol label; they take precedence over the protocol's own `parameters`."
    metrics: dict[MetricName, MetricName] = Field(default_factory=dict)
    "Metrics that claims use instead, by the metric that they name: another reading of what was measured."
    only_with: dict[str, str] = Field(default_factory=dict)
    "Alternatives of other readings that this one requires, by reading."


class Reading(CampaignSection):
    """One choice that a paper leaves open."""

    open: Annotated[str, Field(min_length=1)]
    "The open question in our own words."
    section: str = ""
    "Section of the paper that contains the passage."
    default: str
    "The alternative that is used by default; chosen from the text, not from results."
    because: str = ""
    "Evidence in the text for the default."
    alternatives: Annotated[dict[str, Alternative], Field(min_length=2)]


class ReadingDesign(CampaignSection):
    """Changes to the campaign by `--readings`."""

    most: Annotated[int, Field(ge=1)] = 16
    "Maximum number of combinations that are all evaluated; above it, a covering design is used."
    seeds: Annotated[int, Field(ge=1)] | None = None
    "Number of seeds at each point; those of the campaign if absent."
    points: Annotated[int, Field(ge=1)] | None = None
    "Number of values on each axis, including both ends; all if absent."
    set: Settings = Field(default_factory=dict)
    "Settings at every point."


def defaults(readings: Mapping[str, Reading]) -> Combination:
    """Return the combination of all defaults."""
    return {name: reading.default for name, reading in readings.items()}


def is_sensible(readings: Mapping[str, Reading], combination: Mapping[str, str]) -> bool:
    """Return whether the combination contains every alternative that its alternatives require."""
    return all(
        combination[other] == needed
        for name, chosen in combination.items()
        for other, needed in readings[name].alternatives[chosen].only_with.items()
    )


def choose(readings: Mapping[str, Reading], design: ReadingDesign) -> list[Combination]:
    """Return the combinations to evaluate, sorted by the number of differences from the default."""
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
    """Return the alternatives of a combination that differ from the defaults, by reading."""
    return {name: chosen for name, chosen in combination.items() if chosen != readings[name].default}


def cover_pairs(readings: Mapping[str, Reading]) -> list[Combination]:
    """Return the defaults, each other alternative alone, and combinations that cover every valid pair."""
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
            del uncovered[next(iter(uncovered))]  # the two alternatives exclude each other
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
    """Return `started` with all required alternatives added; None if they contradict each other."""
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
    """Complete a combination so that it covers many new pairs, with defaults if none is new."""
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
    """Return the scenario settings of a combination, and its protocol parameters by label."""
    settings: dict[str, Setting] = {}
    parameters: dict[str, dict[str, Setting]] = {}
    for name, chosen in combination.items():
        alternative = readings[name].alternatives[chosen]
        settings |= alternative.set
        for label, given in alternative.parameters.items():
            parameters[label] = parameters.get(label, {}) | given
    return settings, parameters


def metrics_under(readings: Mapping[str, Reading], combination: Mapping[str, str]) -> dict[str, str]:
    """Return the metrics that a combination replaces, with their replacements."""
    return {
        metric: other
        for name, chosen in combination.items()
        for metric, other in readings[name].alternatives[chosen].metrics.items()
    }


def check_readings(
    readings: Mapping[str, Reading], labels: Iterable[str], axes: Mapping[str, Iterable[str]]
) -> None:
    """Raise an error if a reading contradicts the labels, the axes of sweeps, or other readings."""
    labels = list(labels)
    for name, reading in readings.items():
        place = f"readings.{name}"
        member(reading.default, reading.alternatives, f"{place}.default", "alternative")
        for key, alternative in reading.alternatives.items():
            here = f"{place}.alternatives.{key}"
            if alternative.metrics and key == reading.default:
                raise disagreement(f"{here}.metrics", "claims name the metrics of the default themselves")
            for label in alternative.parameters:
                member(label, labels, f"{here}.parameters.{label}", "protocol")
            for other, needed in alternative.only_with.items():
                if member(other, readings, f"{here}.only_with", "reading") == name:
                    raise disagreement(f"{here}.only_with", "an alternative cannot require its own reading")
                known = readings[other].alternatives
                member(needed, known, f"{here}.only_with.{other}", f"alternative of {other!r}")
            for setting in alternative.set:
                for sweep, keys in axes.items():
                    if setting in keys:
                        problem = f"is an axis of sweep {sweep!r}, which a reading must not override"
                        raise disagreement(f"{here}.set.{setting}", problem)
    if readings and not is_sensible(readings, defaults(readings)):
        raise disagreement("readings", "a default requires an alternative that is not a default")
