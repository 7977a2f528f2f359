"""The simulated world: a scenario's nodes with their routers and applications, on the kernel's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast.content.filter import Filter
from roamcast.facts.recorder import CATEGORIES, UNTOLD, Recorder, Words
from roamcast.routing.catalogue import find
from roamcast.routing.router import Drop, NodeId, Position, Publication
from roamcast.scenario.model import Scenario
from roamcast.sim import kernel
from roamcast.sim.host import SimHost
from roamcast.sim.interest import Subscriber, subscribers
from roamcast.sim.oracle import Oracle
from roamcast.sim.workload import plan

LINK_CAUSES = [
    *("received", "collided", "captured", "weak", "deaf"),
    "radio_off",
    *[""] * 10,
    *("queue_full", "retry_limit", "radio_off"),
]
"By the kernel's code: what became of a frame, then from 16 on why the link gave up on a message."

ROUTER_CAUSES = [Drop(code).name.lower() if code in set(Drop) else "" for code in range(max(Drop) + 1)]
"By Drop."

SLICES = 400
"How often a run comes up for air: to show progress and to heed Ctrl-C."


class World:
    """One run in the making: `run` plays it to the end."""

    def __init__(self, scenario: Scenario, protocol: str, seed: int, recorder: Recorder) -> None:
        self.scenario = scenario
        self.seed = seed
        self.recorder = recorder
        self.kernel = kernel.build(scenario, seed)
        self.kernel.start()
        self.kernel.record_losses(True)
        self.kernel.record_reasons(sum(1 << reason for reason in Drop if reason not in UNTOLD))
        self.oracle = Oracle()
        router_type = find(protocol)
        parameters = scenario.parameters(protocol)
        self.hosts = [SimHost(self.kernel, scenario, seed, node) for node in range(scenario.count)]
        self.routers = [router_type(host, parameters) for host in self.hosts]
        for node, router in enumerate(self.routers):
            self.kernel.attach(node, router, router_type.promiscuous)
            if router_type.knows_audience:
                router.audience = self._audience
        self.counters: dict[str, int] = {}
        "Frames by cause, once the run is over."
        self.drop_counts: list[int] = []
        "By Drop, once the run is over."
        self._plan = plan(scenario, seed)
        self._next = 0

    def run(self, progress: Callable[[float], object] | None = None) -> None:
        """Play the run to its end; `progress` hears the simulated seconds done."""
        try:
            self._begin()
            for done in range(1, SLICES + 1):
                until = self.scenario.duration * done / SLICES
                self.kernel.run_until(until)
                if progress is not None:
                    progress(until)
            self._collect()
        finally:
            self.kernel.close()  # routers, hosts and kernel refer to each other

    def _begin(self) -> None:
        for router in self.routers:
            router.start()
        for node, offered in self._plan.advertisements:
            self.routers[node].advertise(offered)
        for subscriber in subscribers(self.scenario, self.seed):
            self._look(subscriber, 0, ())
        self._await_publication()

    def _await_publication(self) -> None:
        if self._next < len(self._plan.publications):
            due = self._plan.publications[self._next].time
            self.hosts[0].call_later(max(0.0, due - self.kernel.now()), self._publish)

    def _publish(self) -> None:
        publication = self._plan.publications[self._next].publication
        self._next += 1
        self.recorder.publication(self.kernel.now(), publication)
        self.recorder.expectations(publication.id, self._audience(publication))
        self.routers[publication.publisher].publish(publication)
        self._await_publication()

    def _audience(self, publication: Publication) -> list[NodeId]:
        return self.oracle.expected(publication.event, publication.publisher)

    def _look(self, subscriber: Subscriber, look: int, wanted: tuple[Filter, ...]) -> None:
        """Have a subscriber see where it is, and want what it wants there."""
        node = subscriber.node
        position = Position(*self.hosts[node].place())
        now_wanted = subscriber.wants(position, look)
        if now_wanted != wanted:
            for filter in wanted:
                if filter not in now_wanted:
                    self.routers[node].unsubscribe(filter)
                    self.oracle.end(node, filter)
                    self.recorder.interest(self.kernel.now(), node, filter, begins=False)
            for filter in now_wanted:
                if filter not in wanted:
                    self.routers[node].subscribe(filter)
                    self.oracle.begin(node, filter)
                    self.recorder.interest(self.kernel.now(), node, filter, begins=True)
        following = subscriber.next_look(position, look)
        if following is not None:
            wait = max(0.0, subscriber.time_of(following) - self.kernel.now())
            self.hosts[node].call_later(wait, self._look, subscriber, following, now_wanted)

    def _collect(self) -> None:
        """Hand over what the kernel took down."""
        self.counters = self.kernel.counters()
        self.drop_counts = self.kernel.drop_counts()
        kinds = self.kernel.kinds()
        self.recorder.deliveries(**self.kernel.deliveries())
        self.recorder.transmissions(**_worded(self.kernel.transmissions(), kinds))
        self.recorder.drops(**_worded(self.kernel.lost_frames(), kinds, LINK_CAUSES))
        self.recorder.drops(**_worded(self.kernel.router_drops(), kinds, ROUTER_CAUSES))


def _worded(columns: dict[str, Any], kinds: list[str], causes: list[str] | None = None) -> dict[str, Any]:
    """The kernel's columns with words instead of codes."""
    columns["category"] = Words(columns["category"], CATEGORIES)
    columns["kind"] = Words(columns["kind"], kinds)
    if causes is not None:
        columns["cause"] = Words(columns["cause"], causes)
    return columns
