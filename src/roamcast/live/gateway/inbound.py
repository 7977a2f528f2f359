"""From the broker to the mesh: messages become events, acknowledged to the broker when the mesh has them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.errors import UserError
from roamcast.live.errors import LiveError
from roamcast.live.gateway.client import BrokerMessage
from roamcast.live.gateway.settings import PublishRule
from roamcast.live.gateway.topics import TopicTemplate
from roamcast.live.node import Node
from roamcast.live.receipt import NotConfirmed, Receipt
from roamcast.routing.traits import DeliveryGuarantee

_log = logging.getLogger("roamcast.live")

AGAIN = 1.0
"Seconds until an event that too few nodes have acknowledged is published again."
LOOK = 0.05
"Seconds between two looks at the known receivers."
MOST_WAITING = 4096
"Messages of QoS 0 that wait to be published; further ones are dropped and counted."


class _Entry(NamedTuple):
    """A message on its way through the mesh."""

    message: BrokerMessage
    done: asyncio.Task[None]


class Inbound:
    """Publishes messages of the broker as events, in order."""

    def __init__(
        self,
        node: Node,
        rules: tuple[PublishRule, ...],
        settle: float,
        acknowledge: Callable[[BrokerMessage], object],
    ) -> None:
        self._node = node
        self._settle = settle
        self._rules = [(TopicTemplate(rule.topic), rule) for rule in rules]
        self._acknowledge = acknowledge
        self._messages: asyncio.Queue[BrokerMessage] = asyncio.Queue()
        self._entries: deque[_Entry] = deque()
        self._arrived = asyncio.Event()
        self.counts: Counter[str] = Counter()
        self._tasks: list[asyncio.Task[None]] = []
        config = node.config
        traits = config.router().traits(config.router_parameters())
        self._confirms = traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
        if rules and not self._confirms:
            _log.warning("%s does not acknowledge events: messages are acknowledged at once", config.protocol)
        for rule in rules:
            if rule.type not in node.types.by_name:
                raise LiveError(f"mqtt: no event type {rule.type!r}; declare it in `types`")

    @property
    def topics(self) -> list[str]:
        """The topic filters to subscribe to at the broker."""
        return [template.wildcard for template, _ in self._rules]

    @property
    def waiting(self) -> int:
        """The number of messages that are not acknowledged to the broker yet."""
        return self._messages.qsize() + len(self._entries)

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._publish_all()), asyncio.create_task(self._acknowledge_all())]

    async def stop(self) -> None:
        """End; messages that are not acknowledged stay with the broker."""
        tasks = [*self._tasks, *(entry.done for entry in self._entries)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def take(self, message: BrokerMessage) -> bool:
        """Take a message; return False if it is of no rule."""
        if all(template.match(message.topic) is None for template, _ in self._rules):
            return False
        if not message.qos and self.waiting >= MOST_WAITING:
            self.counts["dropped"] += 1
            return True
        self._messages.put_nowait(message)
        return True

    async def _publish_all(self) -> None:
        for _, rule in self._rules:
            self._node.advertise(Filter.everything(self._node.types.by_name[rule.type]))
        while True:
            message = await self._messages.get()
            repeated = self._find_earlier(message)
            if repeated is not None:
                self.counts["repeated"] += 1
                done = repeated
            else:
                done = await self._publish(message)
            self._entries.append(_Entry(message, done))
            self._arrived.set()

    def _find_earlier(self, message: BrokerMessage) -> asyncio.Task[None] | None:
        """Return what became of a message that the broker sends again in a new connection."""
        for place, entry in enumerate(self._entries):
            old = entry.message
            same = (old.topic, old.payload) == (message.topic, message.payload)
            if same and old.connection != message.connection and old.qos:
                del self._entries[place]
                return entry.done
        return None

    async def _publish(self, message: BrokerMessage) -> asyncio.Task[None]:
        try:
            event, rule = self.read(message)
        except UserError as error:
            self.counts["rejected"] += 1
            _log.warning("a message on %s is no event: %s", message.topic, error)
            return asyncio.create_task(_nothing())
        if message.qos and self._confirms:
            await self._await_receivers(event, rule.receivers)
        receipt = await self._node.publish(event)
        self.counts["published"] += 1
        if not message.qos or not self._confirms:
            return asyncio.create_task(_nothing())
        return asyncio.create_task(self._confirm(event, receipt, rule.receivers))

    def read(self, message: BrokerMessage) -> tuple[Event, PublishRule]:
        """Return the event in a message; raises `UserError` if there is none."""
        for template, rule in self._rules:
            found = template.match(message.topic)
            if found is None:
                continue
            type = self._node.types.by_name[rule.type]
            values = _read_object(message.payload)
            for path, text in found.items():
                kind = type.fields[type.index(path)].kind
                value = kind.load(kind.read(text))
                values[path] = value if isinstance(value, int | str) else text
            return Event.from_json(json.dumps({rule.type: values}), type), rule
        raise LiveError(f"no rule for topic {message.topic!r}")

    async def _await_receivers(self, event: Event, least: int) -> None:
        """Wait until enough nodes are known that want an event, or until the node has run long enough."""
        while self._node.router.known_receivers(event) < max(least, 1):
            if self._node.host.now() > self._settle and not least:
                return
            await asyncio.sleep(LOOK)

    async def _confirm(self, event: Event, receipt: Receipt, receivers: int) -> None:
        """Wait until enough nodes have acknowledged the event; publish it again if a receiver was lost."""
        while True:
            try:
                if len(await receipt.acknowledged()) >= receivers:
                    self.counts["confirmed"] += 1
                    return
            except NotConfirmed:
                if self._node.host.ended:
                    raise
            await asyncio.sleep(AGAIN)
            self.counts["published_again"] += 1
            await self._await_receivers(event, receivers)
            receipt = await self._node.publish(event)

    async def _acknowledge_all(self) -> None:
        """Acknowledge to the broker in the order in which messages came, as MQTT requires."""
        while True:
            while self._entries:
                entry = self._entries[0]
                await asyncio.wait({entry.done})
                if self._entries and self._entries[0] is entry:
                    self._entries.popleft()
                    self._acknowledge(entry.message)
            self._arrived.clear()
            await self._arrived.wait()


async def _nothing() -> None:
    """Be done at once."""


def _read_object(payload: bytes) -> dict[str, Any]:
    if not payload:
        return {}
    try:
        values = json.loads(payload)
    except (ValueError, RecursionError):
        raise LiveError("the payload is not JSON") from None
    if not isinstance(values, dict):
        raise LiveError("the payload is not a JSON object")
    return values
