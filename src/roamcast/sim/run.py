"""One run: simulate a protocol in a scenario with a seed, and return the facts."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from roamcast import __version__
from roamcast.errors import UserError
from roamcast.facts.recorder import Recorder
from roamcast.facts.tables import Facts, MessageKind, RunManifest
from roamcast.routing.catalogue import find, roles
from roamcast.routing.router import Drop, ProtocolTraits
from roamcast.scenario.model import Scenario
from roamcast.scenario.resolved import digest_files, resolve
from roamcast.sim.world import World

LARGE = 5_000
"Number of nodes from which a world's memory is returned to the system before metrics need theirs."


def simulate(
    scenario: Scenario,
    protocol: str,
    seed: int,
    progress: Callable[[float], object] | None = None,
    folder: Path | None = None,
    *,
    packed: bool = False,
    count_expectations: bool = False,
) -> Facts:
    """Run `protocol` in `scenario` and return the facts; equal arguments give equal facts on every machine.

    With a `folder`, the facts are written there during the run and read on demand; if `packed` and small,
    into one file. With `count_expectations`, expectations are counted, and listed only if they were
    delivered.
    """
    began = time.process_time()
    recorder = Recorder(folder, packed, count_expectations=count_expectations)
    try:
        with _rare_garbage_collection():
            world = World(scenario, protocol, seed, recorder)
            world.run(progress)
        facts = recorder.facts(_describe(scenario, protocol, seed, world, recorder))
        del world
        if scenario.count >= LARGE:
            gc.collect()  # nodes and applications form reference cycles
            _trim_memory()
    except BaseException:
        recorder.discard()
        raise
    facts.cpu_seconds = time.process_time() - began
    return facts


def _describe(scenario: Scenario, protocol: str, seed: int, world: World, recorder: Recorder) -> RunManifest:
    """Return the manifest of a run: its configuration and its counters."""
    counters = world.counters
    router, parameters = find(protocol), scenario.parameters(protocol)
    message_roles = roles(protocol)
    return RunManifest(
        scenario=scenario.name,
        protocol=protocol,
        parameters=parameters.model_dump(mode="json"),
        seed=seed,
        version=__version__,
        nodes=scenario.count,
        duration=scenario.duration,
        warmup=scenario.warmup,
        range=scenario.radio.range,
        frames={name: count for name, count in counters.items() if name != "events_processed"},
        drops={
            reason.name.lower(): world.drop_counts[reason] for reason in Drop if world.drop_counts[reason]
        },
        events_processed=counters["events_processed"],
        resolved=resolve(scenario),
        files=digest_files(scenario),
        kinds={
            kind: MessageKind(category, message_roles.get(kind, ""))
            for kind, category in recorder.kinds().items()
        },
        traits=spell_traits(router.traits(parameters)),
    )


def spell_traits(traits: ProtocolTraits) -> dict[str, Any]:
    """Return the traits of a protocol as plain values, without empty ones."""
    spelt = msgspec.structs.asdict(traits)
    given = {name: value for name, value in spelt.items() if value != ""}
    return {name: value.name.lower() if isinstance(value, Enum) else value for name, value in given.items()}


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Collect cyclic garbage rarely: a run creates little, and its many live objects are slow to traverse."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


_MOMENT = 1e-3
"Simulated duration of a dry run [s]."


class RunRefused(UserError):
    """A valid scenario whose run would fail."""


def dry_run(scenario: Scenario, protocol: str, source: str) -> None:
    """Start a run of `scenario` with `protocol` and end it after a moment; errors name `source`."""
    try:
        World(scenario, protocol, 1, Recorder()).run(until=min(scenario.duration, _MOMENT))
    except UserError:
        raise
    except MemoryError:
        raise RunRefused(f"{source}: a run would need more memory than is available") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise RunRefused(f"{source}: a run would fail: {type(error).__name__}: {reason}") from error


def _trim_memory() -> None:
    """Return freed memory to the system: glibc keeps small blocks, of which a large world consists."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
