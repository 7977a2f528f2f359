"""The applications of a history: they advertise, subscribe, request and publish while their node is awake,
and repeat advertisements and subscriptions after a restart of the node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId, Publication
from roamcast.testing.swarm.history import (
    AdvertiseStep,
    Note,
    PublishStep,
    RequestStep,
    Step,
    SubscribeStep,
    UnsubscribeStep,
    Zones,
    pattern,
)
from roamcast.testing.swarm.record import SubscriptionSpan, SwarmPublication, SwarmRecord
from roamcast.testing.swarm.recording_mesh import RecordingMesh


class Applications:
    """The applications on the nodes of a mesh."""

    def __init__(self, record: SwarmRecord) -> None:
        self._record = record
        self.offers: dict[NodeId, dict[Zones, Filter]] = {}
        self._wishes: dict[NodeId, list[SubscriptionSpan]] = {}
        self._waiting: dict[NodeId, list[Callable[[], None]]] = {}
        "Actions that are deferred until the node wakes up or restarts."
        self.mesh: RecordingMesh

    def act(self, step: Step) -> None:
        """Execute a step, or defer it until the node is awake; a node that is not awake publishes nothing."""
        if isinstance(step, PublishStep):
            if self.mesh.is_awake(step.node):
                self._record.published.append(self.publish(step.node, step.zone, step.size))
        elif isinstance(step, AdvertiseStep):
            self._when_awake(step.node, partial(self._advertise, step.node, step.zones))
        elif isinstance(step, SubscribeStep):
            self._when_awake(step.node, partial(self._subscribe, step.node, pattern(step.zones), False))
        elif isinstance(step, RequestStep):
            self._when_awake(step.node, partial(self._subscribe, step.node, pattern(step.zones), True))
        elif isinstance(step, UnsubscribeStep):
            self._when_awake(step.node, partial(self._unsubscribe, step.node, pattern(step.zones)))

    def publish(self, node: NodeId, zone: int, size: int = 512) -> SwarmPublication:
        """Publish an event of a zone at `node` now, with a size in bytes."""
        offered = any(first <= zone <= last for first, last in self.offers.get(node, {}))
        return SwarmPublication(self.mesh.now, self.mesh.publish(node, Note(zone=zone), size), offered)

    def resume(self, node: NodeId, anew: bool) -> None:
        """Execute deferred actions; after a restart, first repeat advertisements and subscriptions."""
        router = self.mesh.routers[node]
        if anew:
            for offered in list(self.offers.get(node, {}).values()):
                router.advertise(offered)
            for wish in list(self._wishes.get(node, ())):
                (router.request if wish.single else router.subscribe)(wish.pattern)
        for action in self._waiting.pop(node, []):
            action()

    def on_delivery(self, node: NodeId, publication: Publication) -> None:
        """Handle a delivery: requests that it matches are cancelled in a later call."""
        for wish in self._wishes.get(node, ()):
            if wish.single and wish.pattern.matches(publication.event):
                self.mesh.call_at(self.mesh.now, self._when_awake, node, partial(self._satisfied, node, wish))

    def _when_awake(self, node: NodeId, action: Callable[[], None]) -> None:
        if self.mesh.is_awake(node):
            action()
        else:
            self._waiting.setdefault(node, []).append(action)

    def _advertise(self, node: NodeId, zones: Zones) -> None:
        self.offers.setdefault(node, {})[zones] = pattern(zones)
        self.mesh.advertise(node, pattern(zones))

    def _subscribe(self, node: NodeId, wanted: Filter, single: bool) -> None:
        wishes = self._wishes.setdefault(node, [])
        if any(wish.pattern == wanted for wish in wishes):
            return  # the application has this subscription or request already
        wish = SubscriptionSpan(node, wanted, self.mesh.now, single)
        wishes.append(wish)
        self._record.subscriptions.append(wish)
        (self.mesh.request if single else self.mesh.subscribe)(node, wanted)

    def _unsubscribe(self, node: NodeId, wanted: Filter) -> None:
        for wish in self._wishes.get(node, []):
            if wish.pattern == wanted and not wish.single:
                self._end(wish)
                self.mesh.unsubscribe(node, wanted)
                return

    def _satisfied(self, node: NodeId, wish: SubscriptionSpan) -> None:
        if wish.end == inf:
            self._end(wish)
            self.mesh.routers[node].cancel_request(wish.pattern)

    def _end(self, wish: SubscriptionSpan) -> None:
        wish.end = self.mesh.now
        self._wishes[wish.node] = [each for each in self._wishes[wish.node] if each is not wish]
