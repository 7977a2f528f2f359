"""One run: a scenario, a protocol and a seed in, facts out."""

from __future__ import annotations

import time
from collections.abc import Callable

from roamcast import __version__
from roamcast.facts.recorder import Recorder
from roamcast.facts.tables import Facts, Run
from roamcast.routing.router import Drop
from roamcast.scenario.model import Scenario
from roamcast.sim.world import World


def simulate(
    scenario: Scenario, protocol: str, seed: int, progress: Callable[[float], object] | None = None
) -> Facts:
    """Run `protocol` in `scenario`; the same arguments give the same facts, on every machine."""
    began = time.process_time()
    recorder = Recorder()
    world = World(scenario, protocol, seed, recorder)
    world.run(progress)
    counters = world.counters
    run = Run(
        scenario=scenario.name,
        protocol=protocol,
        parameters=scenario.parameters(protocol).model_dump(mode="json"),
        seed=seed,
        version=__version__,
        nodes=scenario.count,
        duration=scenario.duration,
        warmup=scenario.warmup,
        range=scenario.radio.range,
        frames={name: count for name, count in counters.items() if name != "happenings"},
        drops={
            reason.name.lower(): world.drop_counts[reason] for reason in Drop if world.drop_counts[reason]
        },
        happenings=counters["happenings"],
    )
    facts = recorder.facts(run)
    facts.cpu_seconds = time.process_time() - began
    return facts
