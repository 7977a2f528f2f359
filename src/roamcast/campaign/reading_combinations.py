"""Expansion of a campaign to all its readings: each sweep and claim is repeated for each combination.

The result is an ordinary campaign. Runs that several combinations share are executed once, because the id of
a run depends only on its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.claims import (
    Claim,
    CrossingClaim,
    DifferenceClaim,
    MetricSelector,
    OrderingClaim,
    RatioClaim,
)
from roamcast.campaign.readings import changes, choose, metrics_under
from roamcast.campaign.section import Setting
from roamcast.campaign.sweep import Sweep, thin

_MARK = " @ "


def combination_name(name: str, number: int) -> str:
    """Return the name of a sweep or claim under combination `number`; number 0, the default, keeps `name`."""
    return f"{name}{_MARK}{number}" if number else name


def expand_readings(campaign: Campaign) -> Campaign:
    """Return the campaign with each sweep and claim under each combination of its design, without figures."""
    design, readings = campaign.design, campaign.readings
    claims = campaign.claims
    base = {
        name: _only_claimed(campaign, name).model_copy(update={"set": sweep.set | design.set})
        for name, sweep in campaign.sweeps.items()
        if any(claim.sweep == name for claim in claims.values())
    }
    sweeps: dict[str, Sweep] = {}
    judged: dict[str, Claim] = {}
    for number, combination in enumerate(choose(readings, design)):
        changed = changes(readings, combination)
        for name, sweep in base.items():
            under = {"reading": changed | sweep.reading}
            sweeps[combination_name(name, number)] = sweep.model_copy(update=under)
        instead = metrics_under(readings, combination)
        for name, claim in claims.items():
            judged[combination_name(name, number)] = _replace_metrics(claim, instead).model_copy(
                update={"sweep": combination_name(claim.sweep, number)}
            )
    seeds = campaign.seed_list if design.seeds is None else campaign.seed_list[: design.seeds]
    return campaign.model_copy(update={"sweeps": sweeps, "claims": judged, "figures": {}, "seeds": seeds})


def _replace_metrics(claim: Claim, instead: Mapping[str, str]) -> Claim:
    """Return the claim about the metrics that a reading puts in the place of its own."""
    changed: dict[str, object] = {"metric": instead.get(claim.metric, claim.metric)}
    if isinstance(claim, RatioClaim | DifferenceClaim):
        for side, end in (("of", claim.of), ("to", claim.to)):
            if end.metric is not None:
                changed[side] = end.model_copy(update={"metric": instead.get(end.metric, end.metric)})
    return claim.model_copy(update=changed)


def _only_claimed(campaign: Campaign, name: str) -> Sweep:
    """Return a sweep with the labels and axis values that claims name, and a selection of other values."""
    sweep, keep = campaign.sweeps[name], campaign.design.points
    claims = [claim for claim in campaign.claims.values() if claim.sweep == name]
    labels = {label for claim in claims for label in _labels(claim)}
    needed = {"protocols": [label for label in sweep.protocols if label in labels]}
    if keep is None:
        return sweep.model_copy(update=needed)
    named = {(key, str(value)) for claim in claims for key, value in _named(claim)}

    def fewer(key: str, values: list[Setting]) -> list[Setting]:
        kept = thin(values, keep)
        return [value for value in values if value in kept or (key, str(value)) in named]

    grid = {key: fewer(key, values) for key, values in sweep.grid.items()}
    return sweep.model_copy(update=needed | {"grid": grid})


def _labels(claim: Claim) -> list[str]:
    if isinstance(claim, OrderingClaim):
        return claim.protocols
    if isinstance(claim, RatioClaim | DifferenceClaim):
        return [claim.of.protocol, claim.to.protocol]
    if isinstance(claim, CrossingClaim):
        return [claim.protocol, claim.passes]
    return [claim.protocol]


def _named(claim: Claim) -> Iterator[tuple[str, Setting]]:
    """Yield the axis values that a claim names."""
    yield from claim.where.items()
    ends: list[MetricSelector] = (
        [claim.of, claim.to] if isinstance(claim, RatioClaim | DifferenceClaim) else []
    )
    for end in ends:
        yield from end.where.items()
        yield from (end.less or {}).items()
