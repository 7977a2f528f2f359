"""One testbed run: fork a process per node, run the medium, and return the facts."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from roamcast import __version__
from roamcast.content.declare import write_type
from roamcast.facts.live.segments import expect, read_segments
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, MessageKind, RunManifest, from_rows
from roamcast.facts.tracks import Tracks
from roamcast.live.config import Config
from roamcast.live.security.identity import Identity
from roamcast.routing.catalogue import find, roles
from roamcast.routing.router import NodeId, Position, Publication
from roamcast.scenario.model import Scenario
from roamcast.scenario.resolved import digest_files, resolve
from roamcast.sim.run import spell_traits
from roamcast.sim.world import legs_columns
from roamcast.testbed import assembly
from roamcast.testbed.errors import TestbedError
from roamcast.testbed.frames import Carried, FrameReader
from roamcast.testbed.medium import Lateness, Medium
from roamcast.testbed.node_process import NodeReport, NodeTask, TestbedBearer, fork
from roamcast.testbed.schedule import NodeSchedule, schedules

LEAD = 0.5
"Seconds before the start of a run in which processes are forked."
ALLOWED = 0.01
"Seconds that a frame or a timer of a node may be late."
MOST_LATE = 0.01
"Share of frames, or of timers, that may be later; beyond it the run is invalid."
GRACE = 20.0
"Seconds after the end in which node processes must have written their facts."


class TestbedRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a run went."""

    frames: Lateness
    timers: Lateness
    unsent: int
    "Datagrams that a node's full socket refused."
    errors: int
    "Exceptions out of routers."

    @property
    def problem(self) -> str | None:
        """Why the run is invalid, or None."""
        for name, found in (("frames", self.frames), ("timers of nodes", self.timers)):
            if found.late > MOST_LATE * max(found.count, 1):
                return (
                    f"{found.late:,} of {found.count:,} {name} were more than {1000 * ALLOWED:g} ms late,"
                    f" the worst {1000 * found.worst:.0f} ms: the machine is too slow or too busy"
                )
        if self.unsent:
            return f"{self.unsent:,} datagrams were lost in full sockets"
        if self.errors:
            return f"routers raised {self.errors} exceptions"
        return None


class Testbed:
    """The processes and the medium of one run."""

    def __init__(self, scenario: Scenario, protocol: str, seed: int, folder: Path) -> None:
        self.scenario = scenario
        self.protocol = protocol
        self.seed = seed
        self.folder = folder
        self._router = find(protocol)
        if self._router.needs_location and not scenario.location:
            raise TestbedError(
                f"{protocol} needs positions, and scenario {scenario.name} does not grant them;"
                " set location = true"
            )
        self.medium = Medium(scenario, seed, ALLOWED)
        self._legs = pa.table(legs_columns(self.medium.world, scenario.duration)).cast(TABLES["legs"])
        self._tracks = Tracks(self._legs, scenario.count)
        self.schedules = schedules(scenario, seed, self._tracks)
        self.ids = self._identify(scenario.count)
        self.numbers: dict[NodeId, int] = {id: node for node, id in enumerate(self.ids)}
        if len(self.numbers) < len(self.ids):
            raise TestbedError("two nodes have drawn the same id; run again")
        self._start = 0.0
        self._pids: dict[int, tuple[NodeSchedule, int]] = {}
        self._due: list[tuple[float, bool, NodeSchedule, int]] = []

    def _state(self, node: int) -> Path:
        return self.folder / f"state-{node}"

    def _identify(self, count: int) -> list[NodeId]:
        """Write the identities of all nodes and return their ids, in the order of the nodes.

        Routers break ties by node id: with another order they choose other relays than in the simulator.
        """
        drawn = self.folder / "identities"
        drawn.mkdir()
        files = sorted((Identity.load(drawn / str(n)).node, drawn / str(n)) for n in range(count))
        for node, (_, file) in enumerate(files):
            self._state(node).mkdir(mode=0o700)
            file.rename(self._state(node) / "identity")
        return [id for id, _ in files]

    def config(self, node: int) -> Config:
        """Return the configuration of a node: the scenario's parameters, and its types."""
        types = self.scenario.content.types
        return Config.model_validate(
            {
                "protocol": self.protocol,
                "parameters": self.scenario.parameters(self.protocol).model_dump(),
                "network": f"testbed-{os.getpid()}",
                "state": self._state(node),
                "name": str(node),
                "types": {name: write_type(type) for name, type in types.items()},
            }
        )

    def run(self, progress: Callable[[float], object] | None = None) -> None:
        """Run all nodes to the end of the scenario."""
        end = self.scenario.duration
        for own in self.schedules:
            for life, (start, stop) in enumerate(own.lives):
                self._due.append((start, True, own, life))
                if stop < end:
                    self._due.append((stop, False, own, life))
            if not own.lives or own.lives[0][0] > 0:
                self.medium.set_radio(own.node, False)
        self._due.sort(key=lambda due: (due[0], due[1]), reverse=True)
        gc.collect()
        gc.freeze()  # forked processes share the pages of what is loaded
        self._start = time.monotonic() + LEAD + 0.01 * self.scenario.count
        try:
            self._act(0.0, lead=True)
            self.medium.run(self._start, end, partial(self._tick, progress))
            self._wait()
        finally:
            gc.unfreeze()
            for pid in self._pids:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _tick(self, progress: Callable[[float], object] | None, now: float) -> None:
        self._act(now)
        if progress is not None:
            progress(max(now, 0.0))

    def _act(self, now: float, lead: bool = False) -> None:
        """Start and stop the nodes that are due."""
        while self._due and (self._due[-1][0] <= now or (lead and self._due[-1][0] == 0)):
            _, begins, own, life = self._due.pop()
            if begins:
                self.medium.set_radio(own.node, True)
                self._pids[fork(self._task(own.node), own, life)] = (own, life)
            else:
                self.medium.set_radio(own.node, False)

    def _task(self, node: int) -> NodeTask:
        medium = self.medium
        return NodeTask(
            config=self.config(node),
            bearer=partial(TestbedBearer, medium.node_sockets[node], medium.broadcast_address),
            folder=self.folder,
            start=self._start,
            duration=self.scenario.duration,
            sample=self.scenario.sample,
            tracks=self._tracks,
            grants_location=self.scenario.location,
            audience=self._audience if self._router.knows_audience else None,
            position_of=self._position_of if self._router.knows_positions else None,
        )

    def _audience(self, publication: Publication) -> list[NodeId]:
        now = time.monotonic() - self._start
        expected = [
            self.ids[own.node]
            for own in self.schedules
            if any(each.matches(publication.event) for each in own.subscribed_at(now))
        ]
        return sorted(id for id in expected if id != publication.publisher)

    def _position_of(self, id: NodeId) -> Position | None:
        node = self.numbers.get(id)
        if node is None:
            return None
        return Position(*map(float, self._tracks.position(node, time.monotonic() - self._start)))

    def _wait(self) -> None:
        limit = time.monotonic() + GRACE
        while self._pids:
            for pid in list(self._pids):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    own, life = self._pids.pop(pid)
                    if status:
                        raise TestbedError(f"node {own.node} failed: {self._failure(own.node, life, status)}")
            if time.monotonic() > limit:
                raise TestbedError(f"{len(self._pids)} nodes did not end within {GRACE:g} s")
            time.sleep(0.01)

    def _failure(self, node: int, life: int, status: int) -> str:
        file = self.folder / f"traceback-{node}-{life}.txt"
        return file.read_text().strip().splitlines()[-1] if file.exists() else f"exit status {status}"

    def reports(self) -> list[NodeReport]:
        """Return the reports of the node processes."""
        files = sorted(self.folder.glob("report-*.json"))
        return [msgspec.json.decode(file.read_bytes(), type=NodeReport) for file in files]

    def outcome(self) -> TestbedRun:
        """Return how the run went."""
        reports = self.reports()
        lags = np.array([lag for report in reports for lag in report.lags])
        timers = Lateness(len(lags), int(np.count_nonzero(lags > ALLOWED)), float(lags.max(initial=0.0)))
        return TestbedRun(
            frames=self.medium.lateness(),
            timers=timers,
            unsent=self.medium.unsent,
            errors=sum(report.errors for report in reports),
        )

    def facts(self) -> Facts:
        """Return the facts of the run, in the tables of the simulator."""
        scenario, numbers = self.scenario, self.numbers
        types = scenario.content.types
        reader = FrameReader(self.config(0).network_key(), self._router.messages, types.values())
        carried = reader.read(self.medium.sent)
        tables: dict[str, pa.Table] = {
            name: read_segments(self.folder, name, numbers)
            for name in ("publications", "deliveries", "interests", "states", "tables")
        }
        sent: Mapping[str, Any] = self.medium.world.transmissions()
        lost: Mapping[str, Any] = self.medium.world.lost_frames()
        tables["transmissions"] = assembly.transmissions(sent, carried, numbers)
        drops = [
            assembly.lost_frames(lost, carried, numbers),
            read_segments(self.folder, "drops", numbers),
        ]
        tables["drops"] = pa.concat_tables(drops).unify_dictionaries().sort_by("time")
        tables["interests"] = assembly.end_interests(tables["interests"], self.schedules, scenario.duration)
        tables["expectations"] = expect(tables["publications"], tables["interests"], types)
        tables["requests"] = from_rows("requests", [])
        tables["legs"] = self._legs
        return Facts(self._manifest(carried), {name: tables[name] for name in TABLES})

    def _manifest(self, carried: list[Carried]) -> RunManifest:
        scenario = self.scenario
        parameters = scenario.parameters(self.protocol)
        message_roles = roles(self.protocol)
        counters: dict[str, int] = self.medium.world.counters()
        drops: Counter[str] = Counter()
        for report in self.reports():
            drops.update(report.drops)
        return RunManifest(
            scenario=scenario.name,
            protocol=self.protocol,
            parameters=parameters.model_dump(mode="json"),
            seed=self.seed,
            version=__version__,
            nodes=scenario.count,
            duration=scenario.duration,
            warmup=scenario.warmup,
            range=scenario.radio.range,
            frames={name: count for name, count in counters.items() if name != "events_processed"},
            drops=dict(sorted(drops.items())),
            events_processed=counters["events_processed"],
            resolved=resolve(scenario),
            files=digest_files(scenario),
            kinds={
                each.kind: MessageKind(each.category, message_roles.get(each.kind, "")) for each in carried
            },
            traits=spell_traits(self._router.traits(parameters)),
        )


def run_testbed(
    scenario: Scenario, protocol: str, seed: int, progress: Callable[[float], object] | None = None
) -> tuple[Facts, TestbedRun]:
    """Run `protocol` in `scenario` on live nodes; return the facts and how the run went."""
    with TemporaryDirectory(prefix="roamcast-testbed-") as folder:
        testbed = Testbed(scenario, protocol, seed, Path(folder))
        try:
            testbed.run(progress)
            return testbed.facts(), testbed.outcome()
        finally:
            testbed.medium.close()
