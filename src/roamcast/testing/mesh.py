"""Routers connected by simulated links without a radio, in virtual time, for tests."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeAlias

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.faults import Fault, FaultKind, absent_nodes
from roamcast.routing.numbering import INCARNATIONS, SequenceNumbers
from roamcast.routing.router import (
    BROADCAST,
    Drop,
    Message,
    NodeId,
    Position,
    Publication,
    Router,
    Velocity,
)
from roamcast.testing.host import Clock, MeshHost, MeshTimer
from roamcast.testing.links import LinkModel, LinkRule
from roamcast.testing.mesh_links import MeshLinks
from roamcast.testing.positions import NodePositions
from roamcast.testing.records import DeliveredEvent, DroppedMessage, LostMessage, ReportedState, SentMessage
from roamcast.wire.codec import encode
from roamcast.wire.errors import WireError
from roamcast.wire.message import unwrap

RouterFactory: TypeAlias = Callable[["MeshHost"], Router]


class Mesh:
    """A network of routers for tests.

    `router` creates a node's router from its host; a `Router` class can be passed directly. `faults` are
    injected at their times. `clocks`, by node, set another rate or another initial time.
    """

    as_bytes: bool = False
    "Whether messages are encoded to bytes and decoded on their way, or passed as objects."

    def __init__(
        self,
        nodes: int,
        router: RouterFactory,
        edges: Iterable[tuple[NodeId, NodeId]] = (),
        *,
        links: LinkModel | None = None,
        faults: Iterable[Fault] = (),
        clocks: Mapping[NodeId, Clock] = MappingProxyType({}),
        seed: int = 0,
    ) -> None:
        self.seed = seed
        self.now = 0.0
        self.sent: list[SentMessage] = []
        self.lost: list[LostMessage] = []
        self.drops: list[DroppedMessage] = []
        self.deliveries: list[DeliveredEvent] = []
        self.states: list[ReportedState] = []
        self.belated: list[SentMessage] = []
        "Messages that routers tried to send after their node had crashed; these were not sent."
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self._places = NodePositions()
        self._failing: list[tuple[NodeId, NodeId, Message, MeshTimer]] = []
        self._factory = router
        self._clocks = clocks
        plan = list(faults)
        late = absent_nodes(plan)
        self._up = [node not in late for node in range(nodes)]
        self._radio = [True] * nodes
        self._numbers = [SequenceNumbers(0) for _ in range(nodes)]
        self.hosts = [MeshHost(self, node, clock=clocks.get(node)) for node in range(nodes)]
        self.routers = [self._wake(host) for host in self.hosts]
        kinds = {kind for router in self.routers for kind in router.messages}
        self._air = MeshLinks(links or LinkModel(), kinds, seed)
        for a, b in edges:
            self.join(a, b)
        for node in range(nodes):
            if self._up[node]:
                self.routers[node].start()
            else:
                self.hosts[node].end()
        for fault in sorted(plan, key=lambda fault: fault.time):
            if fault.time < math.inf:
                self.call_at(fault.time, self.inject_fault, fault.node, fault.kind)

    @classmethod
    def line(cls, nodes: int, router: RouterFactory, **options: Any) -> Mesh:
        """Return a mesh of nodes in a row, each linked to the next."""
        return cls(nodes, router, [(n, n + 1) for n in range(nodes - 1)], **options)

    @classmethod
    def grid(cls, columns: int, rows: int, router: RouterFactory, **options: Any) -> Mesh:
        """Return a mesh of nodes in a grid, each linked to its neighbours; node = row * columns + column."""
        across = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
        down = [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
        return cls(columns * rows, router, across + down, **options)

    @classmethod
    def full(cls, nodes: int, router: RouterFactory, **options: Any) -> Mesh:
        """Return a mesh with a link between every two nodes."""
        return cls(nodes, router, itertools.combinations(range(nodes), 2), **options)

    # Recorded results -----------------------------------------------------------------------------

    @property
    def delivered(self) -> list[tuple[NodeId, Event]]:
        """Return the deliveries as pairs of node and event, in order of time."""
        return [(d.node, d.publication.event) for d in self.deliveries]

    def sent_of(self, message_type: type[Message]) -> list[SentMessage]:
        """Return the sent messages of one type, without their envelopes."""
        return [
            sent if isinstance(sent.message, message_type) else sent._replace(message=unwrap(sent.message))
            for sent in self.sent
            if isinstance(sent.message, message_type) or isinstance(unwrap(sent.message), message_type)
        ]

    def drop_counts(self) -> Counter[Drop]:
        """Return the number of drops by reason."""
        return Counter(d.reason for d in self.drops)

    @property
    def links(self) -> LinkModel:
        """The link model; it may be replaced at any time."""
        return self._air.model

    @links.setter
    def links(self, model: LinkModel) -> None:
        self._air.model = model

    # Topology and time ----------------------------------------------------------------------------

    def join(self, a: NodeId, b: NodeId) -> None:
        """Add a link between two nodes."""
        self._air.join(a, b)

    def cut(self, a: NodeId, b: NodeId) -> None:
        """Remove the link between two nodes."""
        self._air.cut(a, b)

    def neighbours(self, node: NodeId) -> list[NodeId]:
        """Return the nodes linked to `node` that are up, awake and have their radio on, in order."""
        return [n for n in range(len(self.hosts)) if self._reaches(node, n)]

    def place(self, node: NodeId, x: float, y: float, *, vx: float = 0.0, vy: float = 0.0) -> None:
        """Set the position [m] and velocity [m/s] of a node; its signals then depend on the distance."""
        self._places.put(node, Position(x, y), Velocity(vx, vy), self.now)

    def position(self, node: NodeId) -> Position:
        """Return the position of a node [m]; raise `PermissionError` if it was not placed."""
        return self._places.position(node, self.now)

    def velocity(self, node: NodeId) -> Velocity:
        """Return the velocity of a node [m/s]; raise `PermissionError` if it was not placed."""
        return self._places.velocity(node)

    def distance(self, signal: float) -> float:
        """Return the distance of the sender of a signal [m]; nan for a signal of nan."""
        return self._places.distance(signal)

    def run(self, for_: float) -> None:
        """Advance the virtual time by `for_` [s] and execute all actions that are due."""
        end = self.now + for_
        while self._due and self._due[0][0] <= end:
            self.step()
        self.now = end

    def step(self) -> None:
        """Advance the time to the next action and execute it."""
        self.now, _, action, args = heapq.heappop(self._due)
        action(*args)

    def call_at(self, time: float, action: Callable[..., object], *args: Any) -> None:
        """Call `action(*args)` at a virtual time [s], independent of the state of nodes."""
        heapq.heappush(self._due, (time, next(self._order), action, args))

    def set_timer(self, time: float, host: MeshHost, timer: MeshTimer) -> None:
        """Fire a timer of a host at a virtual time [s]."""
        self.call_at(time, host.ring, timer)

    # Faults ---------------------------------------------------------------------------------------

    @property
    def rules(self) -> list[LinkRule]:
        """The rules that are applied to every message; see `fault`."""
        return self._air.rules

    @contextmanager
    def fault(self, *rules: LinkRule) -> Iterator[None]:
        """Apply additional rules to links within the block."""
        self._air.rules += rules
        try:
            yield
        finally:
            for rule in rules:
                self._air.rules.remove(rule)

    def inject_fault(self, node: NodeId, what: FaultKind) -> None:
        """Inject a fault at a node now; a fault that is already in effect changes nothing."""
        host = self.hosts[node]
        if what is FaultKind.CRASH and self._up[node]:
            self._up[node] = False
            host.end()
        elif what in (FaultKind.START, FaultKind.ARRIVE) and not self._up[node]:
            self._up[node] = True
            incarnation = 0 if what is FaultKind.ARRIVE else (host.incarnation + 1) % INCARNATIONS
            self.hosts[node] = MeshHost(self, node, incarnation, self._clocks.get(node))
            self._numbers[node] = SequenceNumbers(incarnation)
            self.routers[node] = self._wake(self.hosts[node])
            self.routers[node].start()
        elif what is FaultKind.SLEEP:
            host.asleep = not host.ended
        elif what is FaultKind.WAKE:
            host.wake()
        elif what in (FaultKind.RADIO_OFF, FaultKind.RADIO_ON):
            self._radio[node] = what is FaultKind.RADIO_ON

    def kill(self, node: NodeId) -> None:
        """Crash a node: it neither receives nor sends, and loses its timers."""
        self.inject_fault(node, FaultKind.CRASH)

    def revive(self, node: NodeId) -> None:
        """Restart a crashed node in its next incarnation, with a new router."""
        self.inject_fault(node, FaultKind.START)

    # Applications ---------------------------------------------------------------------------------

    def subscribe(self, node: NodeId, filter: Filter) -> None:
        """Subscribe the application on `node` to a filter."""
        self.add_event_type(filter.type)
        self.routers[node].subscribe(filter)

    def unsubscribe(self, node: NodeId, filter: Filter) -> None:
        """Withdraw a subscription of the application on `node`."""
        self.routers[node].unsubscribe(filter)

    def request(self, node: NodeId, filter: Filter) -> None:
        """Request one event that a filter matches for the application on `node`."""
        self.add_event_type(filter.type)
        self.routers[node].request(filter)

    def advertise(self, node: NodeId, filter: Filter) -> None:
        """Advertise the events that the application on `node` will publish."""
        self.add_event_type(filter.type)
        self.routers[node].advertise(filter)

    def publish(self, node: NodeId, event: Event, size: int = 512) -> Publication:
        """Publish an event of `size` [B] at `node` now, and return the publication."""
        self.add_event_type(event.type)
        publication = Publication(node, self._numbers[node].take(), event, size)
        self.routers[node].publish(publication)
        return publication

    def add_event_type(self, type: EventType) -> None:
        """Register an event type for decoding; types of subscriptions and publications are registered."""
        self._air.add_event_type(type)

    def inject(
        self, to: NodeId, message: Message | bytes, sender: NodeId, signal: float = math.nan
    ) -> Drop | None:
        """Inject forged bytes, or a message that is encoded first, at a node, and return the drop reason.

        Bytes that cannot be decoded are recorded as MALFORMED and do not reach the router.
        """
        try:
            understood = self._air.words.decode(message if isinstance(message, bytes) else encode(message))
        except WireError:
            self.drops.append(DroppedMessage(self.now, to, message, Drop.MALFORMED))
            return Drop.MALFORMED
        return self.hear(to, understood, sender, signal)

    # Called by hosts ------------------------------------------------------------------------------

    def broadcast_from(self, node: NodeId, message: Message) -> None:
        """Send a message from `node` to all its neighbours."""
        if not self._leaves(node, message, BROADCAST):
            return
        if not self._on_air(node):
            self.lost.append(LostMessage(self.now, node, message, BROADCAST))
        for other in self.neighbours(node):
            self._carry(message, node, other, self._air.cross(message, node, other))

    def send_from(self, node: NodeId, message: Message, to: NodeId) -> None:
        """Send a message from `node` to one neighbour, with the retries of the link model."""
        if not self._leaves(node, message, to):
            return
        arrives: list[float] = []
        acknowledged = False
        for _ in range(self.links.tries if self._reaches(node, to) else 0):
            delays = self._air.cross(message, node, to)
            arrives = arrives or delays  # the link discards duplicates that a lost acknowledgement causes
            acknowledged = bool(delays) and self._air.acknowledges(to, node)
            if acknowledged:
                break
        self._carry(message, node, to, arrives)
        if not acknowledged:
            self._fail_later(node, message, to)
        for other in self.neighbours(node):
            if acknowledged and other != to and self.routers[other].promiscuous:
                for delay in self._air.overhear(message, node, other):
                    self.call_at(self.now + delay, self._overhear, other, message, node, to)

    def withdraw(self, node: NodeId, neighbour: NodeId) -> list[Message]:
        """Return the messages of `node` to a neighbour that are about to fail, and cancel `link_failed`."""
        taken = [each for each in self._failing if each[0] == node and each[1] == neighbour]
        self._failing = [each for each in self._failing if each not in taken]
        for *_, timer in taken:
            timer.cancel()
        return [message for _, _, message, _ in taken]

    def hear(self, node: NodeId, message: Message, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the router of a node, if the node can receive; return the drop reason."""
        if not self._on_air(node):
            self.lost.append(LostMessage(self.now, sender, message, node))
            return None
        reason = self.routers[node].receive(message, sender, signal)
        if reason is not None:
            self.drops.append(DroppedMessage(self.now, node, message, reason))
        return reason

    def deliver_at(self, node: NodeId, publication: Publication) -> None:
        """Record the delivery of an event to the application on `node`."""
        self.deliveries.append(DeliveredEvent(self.now, node, publication))

    # Links ----------------------------------------------------------------------------------------

    def _wake(self, host: MeshHost) -> Router:
        router = self._factory(host)
        if router.knows_audience:
            router.audience = self._audience
        if router.knows_positions:
            router.position_of = self._positions
        return router

    def _positions(self, node: NodeId) -> Position | None:
        try:
            return self.position(node)
        except PermissionError:
            return None

    def _audience(self, publication: Publication) -> list[NodeId]:
        numbered = enumerate(self.routers)
        return [n for n, r in numbered if n != publication.publisher and r.matches(publication.event)]

    def _on_air(self, node: NodeId) -> bool:
        return self._up[node] and self._radio[node] and not self.hosts[node].asleep

    def _reaches(self, a: NodeId, b: NodeId) -> bool:
        return self._air.joins(a, b) and self._on_air(a) and self._on_air(b)

    def _leaves(self, node: NodeId, message: Message, to: NodeId) -> bool:
        """Record a sent message, and return whether the queue of the link accepts it."""
        self.sent.append(SentMessage(self.now, node, message, to))
        admitted = self._air.admits(message, node)
        if not admitted:
            self.lost.append(LostMessage(self.now, node, message, BROADCAST))
        return admitted

    def _carry(self, message: Message, node: NodeId, to: NodeId, delays: list[float]) -> None:
        if not delays:
            self.lost.append(LostMessage(self.now, node, message, to))
        elif self.as_bytes:
            message = self._air.as_bytes(message)
        signal = self._places.signal(node, to, self.now)
        for delay in delays:
            self.call_at(self.now + delay, self.hear, to, message, node, signal)

    def _fail_later(self, node: NodeId, message: Message, to: NodeId) -> None:
        failure = MeshTimer(self.routers[node].link_failed, (message, to))
        entry = (node, to, message, failure)
        self._failing.append(entry)

        def fail(host: MeshHost) -> None:
            self._failing = [each for each in self._failing if each is not entry]
            host.ring(failure)

        self.call_at(self.now + self.links.tries * self.links.delay, fail, self.hosts[node])

    def _overhear(self, node: NodeId, message: Message, sender: NodeId, to: NodeId) -> None:
        if self._on_air(node):
            signal = self._places.signal(sender, node, self.now)
            self.routers[node].overhear(message, sender, to, signal)
