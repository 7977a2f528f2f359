"""The league: a campaign of every protocol in every world, with the pairs that cannot run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.sweep import SCENARIO
from roamcast.errors import UserError
from roamcast.routing.catalogue import find, working
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate, shipped

WORLDS: dict[str, dict[str, Any]] = {
    "shopping": {"duration": "400 s"},
    "open-field": {"duration": "90 s", "warmup": "40 s"},
    "city": {"duration": "260 s", "warmup": "100 s"},
    "cd-market": {"duration": "60 s"},
    "river": {"duration": "200 s"},
    "convoy": {},
    "festival": {},
    "rescue": {},
    "sensor-grid": {},
    "office": {},
}
"Worlds of the league, with settings that shorten those of the papers; they keep nodes, area and load."


class League(NamedTuple):
    """The campaign of a league, and the reason for each pair of a world and a protocol that it leaves out."""

    campaign: Campaign
    unserved: dict[tuple[str, str], str]
    "By world and protocol."


def make_league(
    worlds: Iterable[str] | None = None, protocols: Iterable[str] | None = None, seeds: int = 10
) -> League:
    """Return the league of `protocols` in `worlds`, by default of all; a world may be a scenario file."""
    files = {_name(world): locate(world) for world in (WORLDS if worlds is None else worlds)}
    labels = _choose_protocols(protocols)
    unserved: dict[tuple[str, str], str] = {}
    sweeps: dict[str, Any] = {}
    for world, file in files.items():
        settings = WORLDS.get(world, {}) if file == shipped("scenarios").get(world) else {}
        reasons = _reasons(file, settings, labels)
        unserved |= {(world, label): reason for label, reason in reasons.items()}
        able = [label for label in labels if label not in reasons]
        if able:
            sweeps[world] = {"protocols": able, "set": settings, "grid": {SCENARIO: [world]}}
    if not sweeps:
        raise UserError("no protocol can run in any of the worlds")
    campaign = Campaign.model_validate(
        {
            "title": f"League of {len(labels)} protocols in {len(files)} worlds",
            "seeds": seeds,
            "protocols": {label: {} for label in labels},
            "scenarios": files,
            "sweeps": sweeps,
        }
    )
    return League(campaign, unserved)


def _name(world: str) -> str:
    return Path(world).stem


def _choose_protocols(protocols: Iterable[str] | None) -> list[str]:
    if protocols is None:
        return working()[0]
    chosen = list(dict.fromkeys(protocols))
    for each in chosen:
        find(each)
    return chosen


def _reasons(file: Path, settings: Mapping[str, Any], labels: Iterable[str]) -> dict[str, str]:
    """Return why protocols cannot run in a scenario, by protocol."""
    scenario = load(file, settings)
    if scenario.location:
        return {}
    reason = "needs positions, and the world does not set location = true"
    return {label: reason for label in labels if find(label).needs_location}
