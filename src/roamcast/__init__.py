"""Roamcast: content-based publish/subscribe for networks that move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roamcast import lake  # a room that can be called: `roamcast.lake(DIR)`

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from roamcast.scenario.model import Scenario
    from roamcast.sim.result import RunResult

__version__ = "0.1.0"
__all__ = ["lake", "run"]


def run(
    scenario: str | Path | Scenario,
    protocol: str = "flooding",
    seed: int = 1,
    settings: Iterable[str] | Mapping[str, Any] = (),
) -> RunResult:
    """Run a scenario (its file, or the name of a shipped one) under a protocol.

    `settings` change the scenario: `{"radio.range": "200 m"}`.
    """
    from roamcast.sim.result import run_scenario  # here, so that importing roamcast costs nothing

    return run_scenario(scenario, protocol, seed, settings)
