"""The simulated world: a scenario's nodes with routers and applications, on the kernel's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast import _kernel
from roamcast.content.filter import Filter
from roamcast.errors import UserError
from roamcast.facts.recorder import CATEGORIES, UNTOLD, CodedColumn, Recorder
from roamcast.routing.catalogue import find
from roamcast.routing.faults import absent_nodes
from roamcast.routing.router import Drop, NodeId, Position, Publication, Router
from roamcast.scenario.model import Scenario
from roamcast.sim import kernel
from roamcast.sim.apps.application import Application
from roamcast.sim.apps.publisher import Publisher
from roamcast.sim.apps.requester import Requester
from roamcast.sim.apps.subscriber import Subscriber
from roamcast.sim.failure import router_failure
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.faults.inject import inject_faults
from roamcast.sim.host import SimHost, generators
from roamcast.sim.interest import subscribers
from roamcast.sim.node import Node
from roamcast.sim.oracle import Oracle
from roamcast.sim.requests import requesters
from roamcast.sim.workload import plan

LINK_CAUSES = [
    *("received", "collided", "captured", "weak", "deaf", "radio_off", "bit_errors"),
    *[""] * 9,
    *("queue_full", "retry_limit", "radio_off", "unresolved", "too_large", "duty_cycle"),
]
"By kernel code: outcomes of frames, and from 16 on the reasons for which the link dropped a message."

ROUTER_CAUSES = [Drop(code).name.lower() if code in set(Drop) else "" for code in range(max(Drop) + 1)]
"By `Drop`."

SLICES = 400
"Number of slices of a run; between slices it reports progress and handles Ctrl-C."


MOST_ROWS = 1 << 17
"Maximum number of buffered rows; a slice that produces more makes the next ones shorter."


class World:
    """The state of one run; `run` simulates it to the end."""

    def __init__(self, scenario: Scenario, protocol: str, seed: int, recorder: Recorder) -> None:
        self.scenario = scenario
        self.protocol = protocol
        self.seed = seed
        self.recorder = recorder
        self.kernel = kernel.build(scenario, seed)
        recorder.legs(**legs_columns(self.kernel, scenario.duration))
        self.kernel.start()
        self.kernel.record_losses(True)
        self.kernel.record_reasons(sum(1 << reason for reason in Drop if reason not in UNTOLD))
        self.now = self.kernel.now
        self.call_at = self.kernel.call_at
        "The clock of the world: call_at(time, action, *args)."
        self._make_random = generators(seed)
        self.oracle = Oracle()
        self.counters: dict[str, int] = {}
        "Number of frames by cause, set at the end of the run."
        self.drop_counts: list[int] = []
        "Number of drops by `Drop`, set at the end of the run."
        self._requested = Oracle()
        self._published: dict[int, float] | None = {} if scenario.workload.request else None
        self._router_type = find(protocol)
        if self._router_type.needs_location and not scenario.location:
            raise UserError(
                f"{protocol} needs positions, and scenario {scenario.name} does not grant them;"
                " set location = true"
            )
        self.kernel.check_routers(sum(1 << reason for reason in Drop), frozenset(self._router_type.messages))
        self._parameters = scenario.parameters(protocol)
        make_host, make_router = self._host, self._router  # one bound method for all nodes
        self.nodes = [Node(self.kernel, number, make_host, make_router) for number in range(scenario.count)]
        self._faults = draw_faults(scenario, seed)
        late = absent_nodes(self._faults)
        for number in self.kernel.order():  # routers of neighbours are then adjacent in memory
            if number not in late:
                self.nodes[number].boot()
        self._plan = plan(scenario, seed)
        self._next = 0
        self._publishers: dict[NodeId, Publisher] = {}

    def run(self, progress: Callable[[float], object] | None = None, *, until: float | None = None) -> None:
        """Simulate the run to its end or `until` [s]; `progress` is called with the simulated time [s]."""
        try:
            self._begin()
            self._run(progress, self.scenario.duration if until is None else until)
            for node in self.nodes:
                for application in node.applications:
                    application.finish()
            self._collect()
            self.counters = self.kernel.counters()
            self.drop_counts = self.kernel.drop_counts()
        except (Exception, SystemExit) as error:
            raise router_failure(self.protocol, error, self.now()) from error
        finally:
            self.kernel.close()  # routers, hosts and kernel form reference cycles

    def _run(self, progress: Callable[[float], object] | None, end: float) -> None:
        done, slices = 0, SLICES
        while done < slices:
            done += 1
            before = self.kernel.recorded()
            until = end * done / slices
            self.kernel.run_until(until)
            held = self.kernel.recorded()
            if done < slices and held + self.recorder.pending_rows >= MOST_ROWS:
                self._collect()
                self.recorder.flush()
            if held - before > MOST_ROWS:  # not the buffered rows: the slices must not depend on flushes
                done, slices = 2 * done, 2 * slices
            if progress is not None:
                progress(until)

    def record_publication(self, publication: Publication) -> None:
        """Record a publication, and its expectations."""
        self.kernel.note_published(publication.id)
        self.recorder.publication(self.now(), publication)
        self.recorder.expectations(publication.id, self.oracle.audience(publication.event))
        if self._published is not None:
            self._published[publication.id] = self.now()

    def record_interest(self, node: NodeId, filter: Filter, *, begins: bool) -> None:
        """Record that a node adds or removes an interest."""
        (self.oracle.add if begins else self.oracle.remove)(node, filter)
        self.recorder.interest(self.now(), node, filter, begins=begins)

    def record_request(self, node: NodeId, filter: Filter) -> None:
        """Add a request to the audience of events; requests create no expectations."""
        self._requested.add(node, filter)

    def record_answer(self, node: NodeId, filter: Filter) -> None:
        """Remove a request from the audience of events."""
        self._requested.remove(node, filter)

    def published_at(self, publication: int) -> float:
        """Return the time of a publication [s]; only available in a world with requesters."""
        assert self._published is not None, "the workload has no requests"
        return self._published[publication]

    def _host(self, node: NodeId, incarnation: int) -> SimHost:
        return SimHost(self.kernel, self.scenario, self._make_random, node, incarnation)

    def _router(self, host: SimHost) -> Router:
        try:
            router = self._router_type(host, self._parameters)
        except (Exception, SystemExit) as error:
            raise router_failure(self.protocol, error, self.now()) from error
        if self._router_type.knows_audience:
            router.audience = self._audience
        if self._router_type.knows_positions:
            router.position_of = self._positions
        return router

    def _positions(self, node: NodeId) -> Position | None:
        return self.nodes[node].position() if 0 <= node < len(self.nodes) else None

    def _audience(self, publication: Publication) -> list[NodeId]:
        event, publisher = publication.event, publication.publisher
        expected = self.oracle.expected(event, publisher)
        if self._published is None:
            return expected
        return sorted({*expected, *self._requested.expected(event, publisher)})

    def _begin(self) -> None:
        inject_faults(self, self._faults)
        for node in self.nodes:
            if node.up:
                node.router.start()
        for number, filter in self._plan.advertisements:
            publisher = self._publishers.get(number)
            if publisher is None:
                publisher = self._publishers[number] = Publisher(self, self.nodes[number])
            publisher.advertised.append(filter)
        for publisher in self._publishers.values():
            self._run_application(publisher)
        for interest in subscribers(self.scenario, self.seed):
            self._run_application(Subscriber(self, self.nodes[interest.node], interest))
        for asking in requesters(self.scenario, self.seed):
            requester = Requester(self, self.nodes[asking.node], asking)
            self.kernel.listen(asking.node, requester.delivered)
            self._run_application(requester)
        self._await_publication()
        self._await_sample(1)

    def _run_application(self, application: Application) -> None:
        application.node.applications += (application,)
        if application.node.up:
            application.start()

    def _await_publication(self) -> None:
        if self._next < len(self._plan.publications):
            self.call_at(self._plan.publications[self._next].time, self._publish)

    def _publish(self) -> None:
        planned = self._plan.publications[self._next]
        self._next += 1
        self._publishers[planned.publisher].publish(planned.event, planned.size)
        self._await_publication()

    def _await_sample(self, number: int) -> None:
        self.call_at(number * self.scenario.sample, self._sample_tables, number)

    def _sample_tables(self, number: int) -> None:
        """Record the table sizes of every router."""
        now = self.now()
        for node in self.nodes:
            if node.up:
                for name, held in node.router.tables().items():
                    self.recorder.table_size(now, node.number, name, held.entries, held.bytes)
        self._await_sample(number + 1)

    def _collect(self) -> None:
        """Pass the kernel's records so far to the recorder."""
        kinds = self.kernel.kinds()
        self.recorder.deliveries(**self.kernel.deliveries())
        self.recorder.transmissions(**_decode_columns(self.kernel.transmissions(), kinds))
        self.recorder.drops(**_decode_columns(self.kernel.lost_frames(), kinds, LINK_CAUSES))
        self.recorder.drops(**_decode_columns(self.kernel.router_drops(), kinds, ROUTER_CAUSES))
        states: dict[str, Any] = self.kernel.states()
        self.recorder.states(**states | {"name": CodedColumn(states["name"], self.kernel.state_names())})
        self.kernel.forget()


def legs_columns(world: _kernel.World, duration: float) -> dict[str, npt.NDArray[Any]]:
    """Return the movement of all nodes as columns of the legs table, without legs of zero duration."""
    legs: dict[str, Any] = world.movement(duration)
    node, start = legs["node"], legs["time"]
    end = np.append(start[1:], duration)
    end[np.append(node[1:] != node[:-1], True)] = duration
    lasts = end > start
    columns = {"node": node, "start": start, "end": end} | {
        name: legs[name] for name in ("x0", "y0", "x1", "y1")
    }
    return {name: column[lasts] for name, column in columns.items()}


def _decode_columns(
    columns: dict[str, Any], kinds: list[str], causes: list[str] | None = None
) -> dict[str, Any]:
    """Return the kernel's columns with names instead of codes."""
    columns["category"] = CodedColumn(columns["category"], CATEGORIES)
    columns["kind"] = CodedColumn(columns["kind"], kinds)
    if causes is not None:
        columns["cause"] = CodedColumn(columns["cause"], causes)
    return columns
