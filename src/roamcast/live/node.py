"""A live node: a router on a link, with the publications and subscriptions of its applications.

async with Node(Config(listen="127.0.0.1:7001", peers=("127.0.0.1:7002",), types=TYPES)) as node:
    receipt = await node.publish(alert(level=5))
    await receipt.acknowledged()
    async for event in node.subscribe("/alert[level > 3]"):
        print(event)
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any
from weakref import WeakValueDictionary

from roamcast.content.codec import encode_event
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.live.config import Config
from roamcast.live.errors import LiveError
from roamcast.live.greeting import Greeting
from roamcast.live.host import LiveHost
from roamcast.live.link.bearer import Bearer
from roamcast.live.link.link import Link
from roamcast.live.link.packets import Port
from roamcast.live.receipt import Receipt
from roamcast.live.recording.observer import NodeObserver
from roamcast.live.schemas import TypeExchange
from roamcast.live.security.frame import Opener, Sealer, fingerprint_protocol
from roamcast.live.security.keys import NetworkKey
from roamcast.live.security.signatures import Signatures, attach, carried, split
from roamcast.live.state import NodeState
from roamcast.live.subscription import Subscription
from roamcast.routing.router import (
    DeliveryGuarantee,
    Drop,
    Message,
    NodeId,
    Position,
    Publication,
    Router,
    Velocity,
)
from roamcast.routing.state.seen import Seen
from roamcast.wire.errors import UnknownEventType, WireError
from roamcast.wire.fast.codec import FastCodec

_log = logging.getLogger("roamcast.live")

MOST_EVENT = 48 << 10
"Bytes of an encoded event; the rest of a message is for its addressees and route."
_UNKNOWN = math.nan
"The signal of a neighbour without Wi-Fi."
SAVE_EVERY = 30.0
"Seconds between writes of the senders' highest frame numbers."


class Full(LiveError):
    """A publication that the router refused because too many are unacknowledged."""


class Node:
    """One live node; start and stop it with `async with`."""

    def __init__(
        self,
        config: Config,
        bearers: list[Bearer] | None = None,
        observer: NodeObserver | None = None,
        locate: Callable[[], tuple[Position, Velocity]] | None = None,
    ) -> None:
        """`bearers` replace those of the configuration, `locate` its position."""
        self.config = config
        self.observer = observer or NodeObserver()
        self._locate = locate
        self._bearers = bearers
        self._subscriptions: list[Subscription] = []
        self._counts: Counter[Filter] = Counter()
        self._receipts: WeakValueDictionary[int, Receipt] = WeakValueDictionary()
        "Receipts that an application still holds."
        self._offered: set[EventType] = set()
        self._order = asyncio.Lock()
        self._room = asyncio.Event()
        self._saving: asyncio.TimerHandle | None = None
        self.published = self.delivered = self.malformed = 0
        self.reports: dict[str, Callable[[], dict[str, Any]]] = {}
        "Reports of parts beside the node, for `roamcast top`, by name."
        self.id: NodeId
        self._handled: Seen | dict[int, Any] | None = None
        "Ids of messages that the router would call duplicates; None if it has to see each message."
        self.host: LiveHost
        self.link: Link
        self.router: Router
        self.types: TypeExchange
        self.greeting: Greeting
        self.opener: Opener
        self.key: NetworkKey
        self.signatures: Signatures

    @property
    def subscriptions(self) -> list[Subscription]:
        """The subscriptions of its applications."""
        return list(self._subscriptions)

    @property
    def incarnation(self) -> int:
        """How often it has started before with this state folder."""
        return self._state.incarnation

    async def __aenter__(self) -> Node:
        config = self.config
        router_type, parameters = config.router(), config.router_parameters()
        if router_type.needs_location and config.position is None and self._locate is None:
            raise LiveError(f"{config.protocol} needs positions; say `position = [x, y]` in metres")
        self.key = key = config.network_key()
        types = config.event_types()
        bearers = config.bearers() if self._bearers is None else self._bearers
        self._state = NodeState(config.state)
        try:
            self.id = self._state.identity.node
            protocol = fingerprint_protocol(router_type.messages)
            self.opener = Opener(key, protocol, self.id, self._state.read_floors())
            sealer = Sealer(key, protocol, self.id, self._state.counters)
            budget = None if config.budget is None else config.budget / 8
            self.link = Link(sealer, self.opener, bearers, self, budget, start=self._state.incarnation)
            folder = None if config.state is None else config.state / "types"
            self.types = TypeExchange(self.link, types, self.received, folder)
            self.greeting = Greeting(self.link, self._state.identity, key.network, config.name)
            position = None if config.position is None else Position(*config.position)
            self.signatures = Signatures(
                self._state.identity,
                key.network,
                sign=config.sign or config.require_signatures,
                verify=config.verify,
                require=config.require_signatures,
            )
            self.host = LiveHost(
                self.id,
                self._state.incarnation,
                self.link,
                self._deliver,
                position,
                refusal=self.signatures.refusal,
            )
            self.host.observer, self.host.locate = self.observer, self._locate
            self._codec = FastCodec(router_type.messages, self.types.by_fingerprint)
            self._peeks, self._drops = self._codec.peeks, self.host.drops
            self.router = router_type(self.host, parameters)
            self.router.audience = lambda publication: config.audience
            self.router.settled = self._settle
            self.router.may_refuse = True
            if type(self.observer) is NodeObserver:  # other observers get each message
                self._handled = self.router.handled
            promise = router_type.traits(parameters).promise
            self._without = None if promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED else config.protocol
            self.link.start()
            self._signals = self.link.knows_signals
        except BaseException:
            self._state.close()
            raise
        self.greeting.start()
        self._save()
        self.observer.started(self.id, self._state.incarnation)
        self.host.guard(self.router.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.host.ended = True
        self.host.timers.close()
        for subscription in list(self._subscriptions):
            subscription.close()
        for receipt in list(self._receipts.values()):
            receipt.cancel()
        self.types.close()
        self.greeting.close()
        self.link.close()
        if self._saving is not None:
            self._saving.cancel()
        self._state.save_floors(self.opener.floors())
        self._state.close()

    def _save(self) -> None:
        self._state.save_floors(self.opener.floors())
        self._saving = asyncio.get_running_loop().call_later(SAVE_EVERY, self._save)

    # What applications ask.

    def declare(self, type: EventType) -> None:
        """Know an event type that the configuration does not have."""
        self.types.add(type)

    def parse(self, wanted: str | Filter) -> Filter:
        """Return the filter of a subscription in XPath over the known types."""
        return wanted if isinstance(wanted, Filter) else Filter.parse(wanted, self.types.by_name)

    def subscribe(
        self, wanted: str | Filter, taker: Callable[[Publication], None] | None = None
    ) -> Subscription:
        """Subscribe; the subscription is an asynchronous iterator of events.

        With a `taker`, each event is given to it instead, before the router acknowledges the event.
        """
        filter = self.parse(wanted)
        self.types.add(filter.type)
        subscription = Subscription(filter, self._unsubscribe, taker=taker)
        self._subscriptions.append(subscription)
        self._counts[filter] += 1
        if self._counts[filter] == 1:
            self.observer.interest(filter, True)
            self.host.guard(self.router.subscribe, filter)
        return subscription

    def _unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.remove(subscription)
        self._counts[subscription.filter] -= 1
        if not self._counts[subscription.filter]:
            del self._counts[subscription.filter]
            if not self.host.ended:
                self.observer.interest(subscription.filter, False)
                self.host.guard(self.router.unsubscribe, subscription.filter)

    def advertise(self, offered: str | Filter) -> None:
        """Announce what will be published; without it, the first event of a type announces the whole type."""
        filter = self.parse(offered)
        self.types.add(filter.type)
        self._offered.add(filter.type)
        self.host.guard(self.router.advertise, filter)

    def unadvertise(self, offered: str | Filter) -> None:
        """Announce it no more."""
        filter = self.parse(offered)
        self._offered.discard(filter.type)
        self.host.guard(self.router.unadvertise, filter)

    async def publish(
        self, event: Event, *, lifetime: float | None = None, wait: bool = True, size: int = 0
    ) -> Receipt:
        """Publish an event and return its receipt.

        Waits while the router keeps too many unacknowledged events; with `wait=False` raises `Full` instead.
        After `lifetime` seconds the router stops sending it to those who have not acknowledged it.
        Messages that carry it are padded as if the event had `size` bytes.
        """
        padded = max(len(encode_event(event)), size)
        if padded > MOST_EVENT:
            raise LiveError(f"an event of {padded:,} bytes; {MOST_EVENT:,} are the most")
        async with self._order:
            if event.type not in self._offered:
                self.advertise(Filter.everything(event.type))
            numbered = Publication(self.id, self._state.numbers.take(), event, padded)
            publication = self.signatures.sign(numbered)
            self.observer.publishing()
            while self.host.guard(self.router.publish, publication) is Drop.TABLE_FULL:
                if not wait:
                    raise Full("too many events are unacknowledged; try again later")
                self._room.clear()
                await self._room.wait()
                self.observer.publishing()
            self.observer.published(publication)
        self.published += 1
        recall = self.router.traits(self.router.parameters).recall
        receipt = Receipt(publication, self._without, recall)
        if self._without is None:
            self._keep(receipt, lifetime)
        self._deliver(publication)
        return receipt

    def _keep(self, receipt: Receipt, lifetime: float | None) -> None:
        """Remember a receipt while the router may tell of its receivers."""
        self._receipts[receipt.id] = receipt
        if not self.router.unacknowledged(receipt.id):
            receipt.settle()
        if lifetime is not None:
            self.host.call_later(lifetime, self.router.abandon, receipt.id)

    def _settle(self, publication: int, receiver: NodeId, acknowledged: bool | None) -> None:
        self._room.set()
        receipt = self._receipts.get(publication)
        if receipt is not None:
            receipt.note(receiver, acknowledged)
            if not self.router.unacknowledged(publication):
                receipt.settle()

    def _deliver(self, publication: Publication) -> None:
        self.delivered += publication.publisher != self.id
        for subscription in self._subscriptions:
            if subscription.filter.matches(publication.event):
                subscription.deliver(publication)

    # What the link calls.

    def received(self, port: Port, payload: bytes, sender: NodeId) -> None:
        """Take a payload from a neighbour, or one that waited for its event type."""
        if port is Port.ROUTER:
            self.take_message(payload, sender)
        elif port is Port.SIGNED:
            found = split(payload)
            if found is None:
                self.malformed += 1
            else:
                self.take_message(found[1], sender, found[0])
        elif port is Port.HELLO:
            self.greeting.take(payload, sender)
        elif port is Port.TYPE_QUERY:
            self.types.answer(payload, sender)
        else:
            self.types.take(payload)

    def take_message(self, message: bytes, sender: NodeId, proof: bytes = b"") -> None:
        """Decode a message and give it to the router, unless the signature of its publication is refused."""
        handled = self._handled
        if handled is not None and message:
            peek = self._peeks.get(message[0])
            if peek is not None and (known := peek(message)) is not None and known in handled:
                self._drops["duplicate"] += 1
                return
        try:
            decoded = self._codec.decode(message)
        except UnknownEventType as error:
            port = Port.SIGNED if proof else Port.ROUTER
            self.types.park(port, proof + message, sender, error.fingerprint)
            return
        except WireError:
            self.malformed += 1
            return
        if (proof or self.signatures.required) and not self._is_accepted(decoded, proof):
            return
        if self.host.ended:
            return
        try:
            signal = self.link.signal(sender) if self._signals else _UNKNOWN
            reason = self.router.receive(decoded, sender, signal)
        except Exception:
            self.host.note_error()
            return
        if reason is not None:
            self.host.drop(decoded, reason, sender)

    def _is_accepted(self, message: Message, proof: bytes) -> bool:
        """Return whether the signature of a message's publication is acceptable; count it if not."""
        publication = attach(message, proof) if proof else carried(message)
        if publication is None:
            self.malformed += bool(proof)
            return not proof
        wanted = any(each.filter.matches(publication.event) for each in self._subscriptions)
        refusal = self.signatures.refusal(publication, wanted)
        if refusal is not None:
            self.host.drops[refusal] += 1
        return refusal is None

    def failed(self, token: Any, to: NodeId) -> None:
        """Tell the router that the link gave up on a message."""
        if isinstance(token, Message):
            self.observer.failed(token, to, "retry_limit")
            self.host.guard(self.router.link_failed, token, to)

    def overflowed(self, token: Any, to: NodeId) -> None:
        """Count a message for which the link's queue had no room."""
        self.host.drops["queue_full"] += 1
        if isinstance(token, Message):
            self.observer.failed(token, to, "queue_full")

    def met(self, node: NodeId) -> None:
        """Greet a neighbour that was heard for the first time, and tell the router."""
        self.greeting.meet()
        self.host.guard(self.router.neighbour_appeared, node)

    def returned(self, node: NodeId) -> None:
        """Tell the router that a neighbour is heard again after a link failure."""
        self.host.guard(self.router.neighbour_appeared, node)

    def clashed(self) -> None:
        """Report that another node has the id of this one."""
        self.greeting.report_own_clash(self.id)
