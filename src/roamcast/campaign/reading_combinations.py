"""A campaign under all its readings: every sweep and every claim once for each combination to be judged.

The result is a campaign like any other, so it is planned, measured and judged like any other; runs that two
combinations share are one run, because a run is known by what decides it.
"""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.claims import (
    Claim,
    CrossingClaim,
    DifferenceClaim,
    MetricSelector,
    OrderingClaim,
    RatioClaim,
)
from roamcast.campaign.readings import changes, choose
from roamcast.campaign.section import Setting
from roamcast.campaign.sweep import Sweep, thin

_MARK = " @ "


def combination_name(name: str, number: int) -> str:
    """The name of a sweep or claim under the combination with that number; the default's is its own."""
    return f"{name}{_MARK}{number}" if number else name


def expand_readings(campaign: Campaign) -> Campaign:
    """The campaign with each sweep and claim under each combination of its design; without figures."""
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
        for name, claim in claims.items():
            judged[combination_name(name, number)] = claim.model_copy(
                update={"sweep": combination_name(claim.sweep, number)}
            )
    seeds = campaign.seed_list if design.seeds is None else campaign.seed_list[: design.seeds]
    return campaign.model_copy(update={"sweeps": sweeps, "claims": judged, "figures": {}, "seeds": seeds})


def _only_claimed(campaign: Campaign, name: str) -> Sweep:
    """A sweep with the labels and the points that claims need: those they name, and some of the others."""
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
    """The values of axes that a claim speaks of."""
    yield from claim.where.items()
    ends: list[MetricSelector] = (
        [claim.of, claim.to] if isinstance(claim, RatioClaim | DifferenceClaim) else []
    )
    for end in ends:
        yield from end.where.items()
        yield from (end.less or {}).items()
