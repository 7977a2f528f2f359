"""Conversion of claims to checks; a check compares one number with its bounds.

The number is the mean over seeds of a weighted sum of metrics of a seed's runs, or the quotient of two such
means. A band has a single weight of 1. An ordering subtracts one protocol's value from the next one's. A
trend is the rise of the least-squares line from end to end, which is a weighted sum, divided by the mean. A
crossing is the zero of a least-squares line through differences: the centre of the axis values minus the
line's height there divided by its slope.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.claims import (
    BandClaim,
    Claim,
    CrossingClaim,
    DifferenceClaim,
    MetricSelector,
    OrderingClaim,
    RatioClaim,
    TrendClaim,
)
from roamcast.campaign.plan import PlannedCell, point_text
from roamcast.campaign.section import Setting, agrees
from roamcast.campaign.tables import CHECKS, TERMS
from roamcast.metrics.declarations import METRICS

Key = tuple[str, str, str]
"The key of a value: point, protocol and metric."


@dataclass
class Check:
    """A number and its bounds; `above` and `below` are the weights of its numerator and denominator."""

    tells: str
    low: float | None
    high: float | None
    strict: bool = False
    scale: str = "any"
    divisor: str = "none"
    "`positive` or `any` if there are weights `below`: the accepted sign of the denominator."
    above: dict[Key, float] = field(default_factory=dict)
    below: dict[Key, float] = field(default_factory=dict)


def make_checks(campaign: Campaign, claim: Claim) -> list[Check]:
    """Return the checks of `claim`; empty if the campaign's sweep lacks the points of the claim."""
    points = campaign.sweeps[claim.sweep].expand()
    if isinstance(claim, RatioClaim | DifferenceClaim):
        return list(_compare(claim, points))
    chosen = [point for point in points if agrees(point, claim.where)]
    if isinstance(claim, TrendClaim):
        return list(_trend(claim, chosen))
    if isinstance(claim, CrossingClaim):
        return list(_cross(claim, chosen))
    groups = [[point] for point in chosen] if claim.points == "each" else [chosen] * bool(chosen)
    if isinstance(claim, BandClaim):
        return [_band(claim, group) for group in groups]
    return [check for group in groups for check in _order(claim, group)]


def _band(claim: BandClaim, group: list[dict[str, Setting]]) -> Check:
    scale = METRICS[claim.metric].scale
    check = Check(f"{claim.protocol} {_at(group)}", claim.low, claim.high, scale=scale)
    _weigh(check.above, group, claim.protocol, claim.metric, 1.0)
    return check


def _order(claim: OrderingClaim, group: list[dict[str, Setting]]) -> Iterator[Check]:
    for less, more in zip(claim.protocols, claim.protocols[1:], strict=False):
        scale = _scale_of_difference(claim.metric)
        check = Check(f"{more} less {less} {_at(group)}", 0.0, None, strict=True, scale=scale)
        _weigh(check.above, group, more, claim.metric, 1.0)
        _weigh(check.above, group, less, claim.metric, -1.0)
        yield check


@dataclass
class _Line:
    """Points along a claim's axis, their axis values, and their weights in the slope of the line."""

    points: list[dict[str, Setting]]
    places: list[float]
    middle: float
    slopes: list[float]


def _lines(claim: TrendClaim | CrossingClaim, chosen: list[dict[str, Setting]]) -> Iterator[_Line]:
    """Yield a line per value of the other axes, or one for all; none if all points have the same value."""
    lines: dict[str, list[dict[str, Setting]]] = {}
    for point in chosen:
        rest = point_text({key: value for key, value in point.items() if key != claim.along})
        lines.setdefault(rest if claim.points == "each" else "", []).append(point)
    for points in lines.values():
        places = [number(point[claim.along]) for point in points]
        middle = sum(places) / len(places)
        spread = sum((place - middle) ** 2 for place in places)
        if spread > 0:
            yield _Line(points, places, middle, [(place - middle) / spread for place in places])


def _cross(claim: CrossingClaim, chosen: list[dict[str, Setting]]) -> Iterator[Check]:
    for line in _lines(claim, chosen):
        ends = f"from {min(line.places):g} to {max(line.places):g}"
        check = Check(
            f"where {claim.protocol} passes {claim.passes} along {claim.along}, by the line {ends}",
            claim.low,
            claim.high,
            divisor="any",
        )
        for point, slope in zip(line.points, line.slopes, strict=True):
            height = line.middle * slope - 1 / len(line.points)
            for protocol, sign in ((claim.protocol, 1.0), (claim.passes, -1.0)):
                _weigh(check.above, [point], protocol, claim.metric, sign * height)
                _weigh(check.below, [point], protocol, claim.metric, sign * slope)
        yield check


def _trend(claim: TrendClaim, chosen: list[dict[str, Setting]]) -> Iterator[Check]:
    bounds = {
        "rising": (0.0, None),
        "falling": (None, 0.0),
        "level": (-claim.tolerance, claim.tolerance),
    }
    for line in _lines(claim, chosen):
        low, high = bounds[claim.direction]
        fixed = {key: value for key, value in line.points[0].items() if key != claim.along}
        where = f" {_at([fixed])}" if claim.points == "each" and fixed else ""
        check = Check(
            f"climb of {claim.protocol} along {claim.along}, of its mean{where}",
            low,
            high,
            strict=claim.direction != "level",
            divisor="positive",
        )
        width = max(line.places) - min(line.places)
        for point, slope in zip(line.points, line.slopes, strict=True):
            _weigh(check.above, [point], claim.protocol, claim.metric, slope * width)
            _weigh(check.below, [point], claim.protocol, claim.metric, 1 / len(line.points))
        yield check


def _compare(claim: RatioClaim | DifferenceClaim, points: list[dict[str, Setting]]) -> Iterator[Check]:
    divided = isinstance(claim, RatioClaim)
    word = "over" if divided else "less"
    if claim.points == "mean" or claim.of.where or claim.to.where or claim.of.less or claim.to.less:
        pairs = [(claim.where, claim.where)]
    else:
        chosen = [point for point in points if agrees(point, claim.where)]
        pairs = [(point, point) for point in chosen]
    for of_where, to_where in pairs:
        sides = []
        for end, where in ((claim.of, of_where), (claim.to, to_where)):
            side = _operand_value(end, claim.metric, where, points)
            if side is None:
                return
            sides.append(side)
        (above, above_tells), (below, below_tells) = sides
        check = Check(f"{above_tells} {word} {below_tells}", claim.low, claim.high, above=above)
        if divided:
            check.below, check.divisor = below, "positive"
        else:
            check.scale = _scale_of_difference(*(end.metric or claim.metric for end in (claim.of, claim.to)))
            for key, weight in below.items():
                check.above[key] = check.above.get(key, 0.0) - weight
        yield check


def _scale_of_difference(*metrics: str) -> str:
    shares = all(METRICS[metric].scale == "share" for metric in metrics)
    return "difference" if shares else "any"


def _operand_value(
    end: MetricSelector, metric: str, where: Mapping[str, Setting], points: list[dict[str, Setting]]
) -> tuple[dict[Key, float], str] | None:
    weights: dict[Key, float] = {}
    group = [point for point in points if agrees(point, dict(where) | end.where)]
    described = f"{end.metric or metric} of {end.protocol} {_at(group)}"
    _weigh(weights, group, end.protocol, end.metric or metric, 1.0)
    if end.less is not None:
        base = [point for point in points if agrees(point, dict(where) | end.less)]
        if not base:
            return None
        _weigh(weights, base, end.protocol, end.metric or metric, -1.0)
        described = f"rise of {described} since {_at(base).removeprefix('at ')}"
    return (weights, described) if group else None


def _weigh(
    weights: dict[Key, float], group: list[dict[str, Setting]], protocol: str, metric: str, weight: float
) -> None:
    for point in group:
        key = (point_text(point), protocol, metric)
        weights[key] = weights.get(key, 0.0) + weight / len(group)


def _at(group: list[dict[str, Setting]]) -> str:
    if len(group) != 1:
        return f"on the mean of {len(group)} points"
    return "at " + ", ".join(f"{key} = {value}" for key, value in group[0].items()) if group[0] else "here"


def number(value: Any) -> float:
    """Return a setting as a number; of a text with a unit, the number before the unit."""
    if isinstance(value, str):
        value = value.strip().split()[0]
    return float(value)


def make_tables(campaign: Campaign, places: Iterable[PlannedCell]) -> dict[str, pa.Table]:
    """Return the tables `checks` and `terms` of all claims; `places` are the cells of the plan."""
    runs = _index(places)
    checks: list[dict[str, Any]] = []
    terms: list[dict[str, Any]] = []
    for name, claim in campaign.claims.items():
        for part, check in enumerate(make_checks(campaign, claim)):
            keys = check.above.keys() | check.below.keys()
            checks.append(
                {
                    "claim": name,
                    "part": part,
                    "tells": check.tells,
                    "terms": len(keys),
                    "divisor": check.divisor,
                    "low": check.low,
                    "high": check.high,
                    "strict": check.strict,
                    "scale": check.scale,
                }
            )
            for point, protocol, metric in sorted(keys):
                weights = {
                    "above": check.above.get((point, protocol, metric), 0.0),
                    "below": check.below.get((point, protocol, metric), 0.0),
                }
                for seed, run in runs.get((claim.sweep, point, protocol), ()):
                    row = {"claim": name, "part": part, "seed": seed, "run": run, "metric": metric}
                    terms.append(row | weights)
    return {"checks": pa.Table.from_pylist(checks, CHECKS), "terms": pa.Table.from_pylist(terms, TERMS)}


def _index(places: Iterable[PlannedCell]) -> dict[tuple[str, str, str], list[tuple[int, str]]]:
    found: dict[tuple[str, str, str], list[tuple[int, str]]] = {}
    for place in places:
        found.setdefault((place.sweep, place.point, place.protocol), []).append((place.seed, place.run))
    return found


def settings_of(point: str) -> dict[str, Setting]:
    """Return the settings of a point from its text in the tables."""
    read: dict[str, Setting] = json.loads(point)
    return read
