"""Mesh: routers joined by links, no radio. Time is virtual, so a story of hours takes milliseconds."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any, NamedTuple, TypeAlias

import msgspec

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.router import BROADCAST, Drop, Message, NodeId, Position, Publication, Router
from roamcast.wire.errors import WireError
from roamcast.wire.vocabulary import Vocabulary, encode

RouterFactory: TypeAlias = Callable[["MeshHost"], Router]


class Sent(NamedTuple):
    """A message that a node gave to its links."""

    time: float
    node: NodeId
    message: Message
    to: NodeId


class Dropped(NamedTuple):
    """A message that a router let go, with its reason."""

    time: float
    node: NodeId
    message: Message | bytes
    "Bytes, where they are no message."
    reason: Drop


class Delivered(NamedTuple):
    """An event that reached an application."""

    time: float
    node: NodeId
    publication: Publication


class LinkModel(msgspec.Struct, frozen=True):
    """How links behave: perfect unless said otherwise."""

    delay: float = 0.002
    "Seconds from sender to receiver."
    jitter: float = 0.0
    "Up to this much more, at random: enough of it reorders messages."
    loss: float = 0.0
    "Share of broadcasts lost per receiver; of unicast attempts lost per try."
    duplicate: float = 0.0
    "Share of messages that arrive twice."
    tries: int = 4
    "Attempts of a unicast before the sender is told that the link failed."


class MeshTimer:
    """A timer in virtual time."""

    __slots__ = ("_action", "_args")

    def __init__(self, action: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._action: Callable[..., object] | None = action
        self._args = args

    def cancel(self) -> None:
        """Make sure that it will not happen."""
        self._action = None

    @property
    def active(self) -> bool:
        """Whether it is still to happen."""
        return self._action is not None

    def fire(self) -> None:
        """Do it, once, unless cancelled."""
        action, self._action = self._action, None
        if action is not None:
            action(*self._args)


class MeshHost:
    """The host that a router in a mesh sees."""

    def __init__(self, mesh: Mesh, node: NodeId) -> None:
        self.node = node
        self.random = Random(f"{mesh.seed}/{node}")
        self.place: Position | None = None
        self._mesh = mesh

    def now(self) -> float:
        """Virtual seconds since the mesh was made."""
        return self._mesh.now

    def broadcast(self, message: Message) -> None:
        """Send to every living neighbour."""
        self._mesh._broadcast(self.node, message)

    def send(self, message: Message, to: NodeId) -> None:
        """Send to one neighbour; `link_failed` follows if it cannot be reached."""
        self._mesh._send(self.node, message, to)

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> MeshTimer:
        """Call `action(*args)` after `delay` virtual seconds."""
        if not 0 <= delay < math.inf:
            raise ValueError(f"a delay must be finite and not negative, not {delay!r}")
        timer = MeshTimer(action, args)
        life = self._mesh._lives[self.node]
        self._mesh._at(
            self._mesh.now + delay, lambda: timer.fire() if self._mesh._lives[self.node] == life else None
        )
        return timer

    def position(self) -> Position:
        """The place set by `Mesh.place`; a mesh has no geometry of its own."""
        if self.place is None:
            raise PermissionError("this node has no position; give it one with mesh.place(node, x, y)")
        return self.place

    def deliver(self, publication: Publication) -> None:
        """Note a delivery for the story to check."""
        self._mesh.deliveries.append(Delivered(self._mesh.now, self.node, publication))

    def drop(self, message: Message, reason: Drop) -> None:
        """Note a drop for the story to check."""
        self._mesh.drops.append(Dropped(self._mesh.now, self.node, message, reason))


class Mesh:
    """A network of routers to tell stories with.

    `router` makes a node's router from its host: a `Router` class itself will do.
    """

    as_bytes: bool = False
    "Whether messages travel as their bytes, or as the objects that they are."

    def __init__(
        self,
        nodes: int,
        router: RouterFactory,
        edges: Iterable[tuple[NodeId, NodeId]] = (),
        *,
        links: LinkModel | None = None,
        seed: int = 0,
    ) -> None:
        self.seed = seed
        self.links = links or LinkModel()
        self.now = 0.0
        self.sent: list[Sent] = []
        self.drops: list[Dropped] = []
        self.deliveries: list[Delivered] = []
        self._random = Random(f"{seed}/links")
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._joined: set[frozenset[NodeId]] = set()
        self._alive = [True] * nodes
        self._lives = [0] * nodes
        self._sequences = [0] * nodes
        self._factory = router
        self.hosts = [MeshHost(self, node) for node in range(nodes)]
        for a, b in edges:
            self.join(a, b)
        self.routers = [self._wake(host) for host in self.hosts]
        self._words = Vocabulary({kind for r in self.routers for kind in r.messages})
        for r in self.routers:
            r.start()

    @classmethod
    def line(cls, nodes: int, router: RouterFactory, **options: Any) -> Mesh:
        """Nodes in a row, each joined to the next."""
        return cls(nodes, router, [(n, n + 1) for n in range(nodes - 1)], **options)

    @classmethod
    def grid(cls, columns: int, rows: int, router: RouterFactory, **options: Any) -> Mesh:
        """Nodes in a rectangle, joined to their right and lower neighbours; node = row * columns + column."""
        across = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
        down = [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
        return cls(columns * rows, router, across + down, **options)

    @classmethod
    def full(cls, nodes: int, router: RouterFactory, **options: Any) -> Mesh:
        """Everyone hears everyone."""
        return cls(nodes, router, itertools.combinations(range(nodes), 2), **options)

    @property
    def delivered(self) -> list[tuple[NodeId, Event]]:
        """Who got what, in order."""
        return [(d.node, d.publication.event) for d in self.deliveries]

    def sent_of(self, message_type: type[Message]) -> list[Sent]:
        """The messages of one type that were sent."""
        return [s for s in self.sent if isinstance(s.message, message_type)]

    def drop_counts(self) -> Counter[Drop]:
        """How often each reason was given."""
        return Counter(d.reason for d in self.drops)

    def join(self, a: NodeId, b: NodeId) -> None:
        """Bring two nodes into range of each other."""
        if a != b:
            self._joined.add(frozenset((a, b)))

    def part(self, a: NodeId, b: NodeId) -> None:
        """Take two nodes out of each other's range."""
        self._joined.discard(frozenset((a, b)))

    def neighbours(self, node: NodeId) -> list[NodeId]:
        """Who is in range of `node` and alive, in order."""
        return [n for n in range(len(self.hosts)) if self._reaches(node, n)]

    def place(self, node: NodeId, x: float, y: float) -> None:
        """Tell a node where it is."""
        self.hosts[node].place = Position(x, y)

    def kill(self, node: NodeId) -> None:
        """Crash a node: it neither hears, speaks nor remembers its timers."""
        self._alive[node] = False
        self._lives[node] += 1

    def revive(self, node: NodeId) -> None:
        """Start a crashed node anew, with an empty router."""
        self._alive[node] = True
        self.routers[node] = self._wake(self.hosts[node])
        self.routers[node].start()

    def subscribe(self, node: NodeId, wanted: Filter) -> None:
        """Have the application on `node` want something."""
        self._know(wanted.type)
        self.routers[node].subscribe(wanted)

    def unsubscribe(self, node: NodeId, wanted: Filter) -> None:
        """Have it stop wanting it."""
        self.routers[node].unsubscribe(wanted)

    def advertise(self, node: NodeId, offered: Filter) -> None:
        """Have the application on `node` announce what it will publish."""
        self._know(offered.type)
        self.routers[node].advertise(offered)

    def publish(self, node: NodeId, event: Event, size: int = 512) -> Publication:
        """Publish an event from `node` now."""
        self._know(event.type)
        self._sequences[node] += 1
        publication = Publication(node, self._sequences[node], event, size)
        self.routers[node].publish(publication)
        return publication

    def inject(
        self, to: NodeId, message: Message | bytes, sender: NodeId, signal: float = math.nan
    ) -> Drop | None:
        """Have a node hear what a stranger on the air says: bytes, or a message, which is sent as its bytes.

        What no message has as its bytes is MALFORMED, and no router hears of it.
        """
        try:
            understood = self._words.decode(message if isinstance(message, bytes) else encode(message))
        except WireError:
            self.drops.append(Dropped(self.now, to, message, Drop.MALFORMED))
            return Drop.MALFORMED
        return self._hear(to, understood, sender, signal)

    def run(self, for_: float) -> None:
        """Let `for_` seconds pass."""
        end = self.now + for_
        while self._due and self._due[0][0] <= end:
            self.now, _, action = heapq.heappop(self._due)
            action()
        self.now = end

    def _know(self, type: EventType) -> None:
        self._words.types[type.name] = type

    def _wake(self, host: MeshHost) -> Router:
        router = self._factory(host)
        if router.knows_audience:
            router.audience = self._audience
        return router

    def _audience(self, publication: Publication) -> list[NodeId]:
        wanting = enumerate(self.routers)
        return [n for n, r in wanting if n != publication.publisher and r.wants(publication.event)]

    def _at(self, time: float, action: Callable[[], object]) -> None:
        heapq.heappush(self._due, (time, next(self._order), action))

    def _reaches(self, a: NodeId, b: NodeId) -> bool:
        return frozenset((a, b)) in self._joined and self._alive[a] and self._alive[b]

    def _flight(self) -> float:
        return self.links.delay + (self.links.jitter * self._random.random() if self.links.jitter else 0.0)

    def _lost(self) -> bool:
        return self.links.loss > 0 and self._random.random() < self.links.loss

    def _carry(self, sender: NodeId, to: NodeId, message: Message) -> None:
        if self.as_bytes:
            data = encode(message)
            if len(data) != message.size:
                raise AssertionError(f"{message!r} has {len(data)} bytes and says {message.size}")
            message = self._words.decode(data)
        copies = 2 if self.links.duplicate and self._random.random() < self.links.duplicate else 1
        for _ in range(copies):
            self._at(self.now + self._flight(), lambda: self._hear(to, message, sender, math.nan))

    def _broadcast(self, node: NodeId, message: Message) -> None:
        if not self._alive[node]:
            return
        self.sent.append(Sent(self.now, node, message, BROADCAST))
        for other in self.neighbours(node):
            if not self._lost():
                self._carry(node, other, message)

    def _send(self, node: NodeId, message: Message, to: NodeId) -> None:
        if not self._alive[node]:
            return
        self.sent.append(Sent(self.now, node, message, to))
        reached = self._reaches(node, to) and any(not self._lost() for _ in range(self.links.tries))
        if reached:
            self._carry(node, to, message)
        else:
            life = self._lives[node]
            self._at(
                self.now + self.links.tries * self.links.delay,
                lambda: self.routers[node].link_failed(message, to) if self._lives[node] == life else None,
            )
        for other in self.neighbours(node):
            if reached and other != to and self.routers[other].promiscuous and not self._lost():
                self._at(self.now + self._flight(), partial(self._overhear, other, message, node, to))

    def _hear(self, node: NodeId, message: Message, sender: NodeId, signal: float) -> Drop | None:
        if not self._alive[node]:
            return None
        reason = self.routers[node].receive(message, sender, signal)
        if reason is not None:
            self.drops.append(Dropped(self.now, node, message, reason))
        return reason

    def _overhear(self, node: NodeId, message: Message, sender: NodeId, to: NodeId) -> None:
        if self._alive[node]:
            self.routers[node].overhear(message, sender, to, math.nan)
