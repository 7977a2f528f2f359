"""A scenario spelled out: what it was, for those who have its facts and not its file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from roamcast.content.declare import write_type
from roamcast.scenario.model import Scenario


def spell_out(scenario: Scenario) -> dict[str, Any]:
    """Every key in SI units, with defaults and event types; `Scenario.model_validate` reads it again.

    Files are named without their folders, so that the same scenario is told alike on every machine.
    """
    told: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True)
    types = scenario.content.types
    told["workload"]["types"] = {name: write_type(type) for name, type in types.items()}
    for (part, key), path in _named(scenario).items():
        told[part][key] = path.name
    return told


def digest_files(scenario: Scenario) -> dict[str, str]:
    """The SHA-256 of each file that the scenario names, by its key."""
    return {
        f"{part}.{key}": hashlib.sha256(path.read_bytes()).hexdigest()
        for (part, key), path in _named(scenario).items()
    }


def _named(scenario: Scenario) -> dict[tuple[str, str], Path]:
    named: dict[tuple[str, str], Path] = {}
    if scenario.mobility is not None:
        named["mobility", "ns2"] = scenario.mobility.ns2
    if scenario.workload.schedule is not None:
        named["workload", "schedule"] = scenario.workload.schedule
    return named
