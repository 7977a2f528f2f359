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
        self.advertised: dict[NodeId, dict[Zones, Filter]] = {}
        self._spans: dict[NodeId, list[SubscriptionSpan]] = {}
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
        advertised = any(first <= zone <= last for first, last in self.advertised.get(node, {}))
        return SwarmPublication(self.mesh.now, self.mesh.publish(node, Note(zone=zone), size), advertised)

    def resume(self, node: NodeId, anew: bool) -> None:
        """Execute deferred actions; after a restart, first repeat advertisements and subscriptions."""
        router = self.mesh.routers[node]
        if anew:
            for filter in list(self.advertised.get(node, {}).values()):
                router.advertise(filter)
            for span in list(self._spans.get(node, ())):
                (router.request if span.single else router.subscribe)(span.pattern)
        for action in self._waiting.pop(node, []):
            action()

    def on_delivery(self, node: NodeId, publication: Publication) -> None:
        """Handle a delivery: requests that it matches are cancelled in a later call."""
        for span in self._spans.get(node, ()):
            if span.single and span.pattern.matches(publication.event):
                self.mesh.call_at(self.mesh.now, self._when_awake, node, partial(self._satisfied, node, span))

    def _when_awake(self, node: NodeId, action: Callable[[], None]) -> None:
        if self.mesh.is_awake(node):
            action()
        else:
            self._waiting.setdefault(node, []).append(action)

    def _advertise(self, node: NodeId, zones: Zones) -> None:
        self.advertised.setdefault(node, {})[zones] = pattern(zones)
        self.mesh.advertise(node, pattern(zones))

    def _subscribe(self, node: NodeId, filter: Filter, single: bool) -> None:
        spans = self._spans.setdefault(node, [])
        if any(span.pattern == filter for span in spans):
            return  # the application has this subscription or request already
        span = SubscriptionSpan(node, filter, self.mesh.now, single)
        spans.append(span)
        self._record.subscriptions.append(span)
        (self.mesh.request if single else self.mesh.subscribe)(node, filter)

    def _unsubscribe(self, node: NodeId, filter: Filter) -> None:
        for span in self._spans.get(node, []):
            if span.pattern == filter and not span.single:
                self._end(span)
                self.mesh.unsubscribe(node, filter)
                return

    def _satisfied(self, node: NodeId, span: SubscriptionSpan) -> None:
        if span.end == inf:
            self._end(span)
            self.mesh.routers[node].cancel_request(span.pattern)

    def _end(self, span: SubscriptionSpan) -> None:
        span.end = self.mesh.now
        self._spans[span.node] = [each for each in self._spans[span.node] if each is not span]
