"""From the mesh to the broker: events are spooled when they are delivered, and published until confirmed."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping

from roamcast.errors import UserError
from roamcast.live.gateway.client import BrokerMessage
from roamcast.live.gateway.settings import SubscribeRule
from roamcast.live.gateway.spool import Spool
from roamcast.live.gateway.topics import TopicTemplate
from roamcast.live.node import Node
from roamcast.live.subscription import Subscription
from roamcast.routing.router import Publication

_log = logging.getLogger("roamcast.live")

MOST_UNCONFIRMED = 64
"Messages that the broker has not confirmed yet; further ones wait in the spool."
MOST_REQUESTS = 256
"Subscriptions that clients of the broker may ask for."
EVENTS = "roamcast/events"
"Events of a requested subscription NAME are published on this topic and NAME, unless it names another."

Publish = Callable[[str, bytes, bool, Mapping[str, str]], int]


class Outbound:
    """Subscribes in the mesh by rules and by requests, and publishes what is delivered."""

    def __init__(self, node: Node, rules: tuple[SubscribeRule, ...], requests: str, spool: Spool) -> None:
        self._node = node
        self._spool = spool
        self._requests = requests
        self._asked: dict[str, Subscription] = {}
        self._unconfirmed: dict[int, int] = {}
        "Message id of the client -> number in the spool."
        self._last = 0
        self._publish: Publish | None = None
        self.counts: Counter[str] = Counter()
        self._subscriptions = [
            self._subscribe(rule.filter, TopicTemplate(rule.topic), rule.retain) for rule in rules
        ]

    @property
    def topics(self) -> list[str]:
        """The topic filters of requests, to subscribe to at the broker."""
        return [f"{self._requests}/+"] if self._requests else []

    @property
    def waiting(self) -> int:
        """The number of messages that the broker has not confirmed yet."""
        return len(self._spool)

    def start(self, publish: Publish) -> None:
        """Publish what is in the spool, and all that follows."""
        self._publish = publish
        self._send()

    def confirmed(self, mid: int) -> None:
        """Note that the broker has a message."""
        number = self._unconfirmed.pop(mid, None)
        if number is not None:
            self.counts["confirmed"] += 1
            self._spool.remove(number)
            self._send()

    def take(self, message: BrokerMessage) -> bool:
        """Take a request for a subscription, or for its end; return False if the message is none."""
        prefix = f"{self._requests}/"
        if not self._requests or not message.topic.startswith(prefix):
            return False
        name = message.topic.removeprefix(prefix)
        old = self._asked.pop(name, None)
        if old is not None:
            old.close()
        wanted = message.properties.get("filter") or message.payload.decode(errors="replace").strip()
        if wanted:
            try:
                if len(self._asked) >= MOST_REQUESTS:
                    raise UserError(f"more than {MOST_REQUESTS} subscriptions")
                template = TopicTemplate(message.properties.get("topic", f"{EVENTS}/{name}"))
                self._asked[name] = self._subscribe(wanted, template, False)
            except UserError as error:
                self.counts["rejected"] += 1
                _log.warning("a request for a subscription on %s: %s", message.topic, error)
        return True

    def _subscribe(self, wanted: str, template: TopicTemplate, retain: bool) -> Subscription:
        def deliver(publication: Publication) -> None:
            if publication.publisher != self._node.id:
                self._keep(publication, template, retain)

        return self._node.subscribe(wanted, deliver)

    def _keep(self, publication: Publication, template: TopicTemplate, retain: bool) -> None:
        """Store an event; the router acknowledges it only after this has returned."""
        event = publication.event
        payload = json.dumps(json.loads(event.to_json())[event.type.name], ensure_ascii=False)
        topic = template.render(dict(event.items()))
        try:
            self._spool.add(topic, payload.encode(), publication.id, retain)
        except sqlite3.Error as error:
            self.counts["lost"] += 1
            _log.error("an event cannot be kept for the broker: %s", error)
            return
        self.counts["received"] += 1
        self._send()

    def _send(self) -> None:
        if self._publish is None:
            return
        room = MOST_UNCONFIRMED - len(self._unconfirmed)
        for message in self._spool.after(self._last, max(room, 0)):
            properties = {
                "publisher": str(message.publication >> 32),
                "publication": str(message.publication),
            }
            mid = self._publish(message.topic, message.payload, message.retain, properties)
            self._unconfirmed[mid] = message.number
            self._last = message.number

    def stop(self) -> None:
        """End all subscriptions."""
        self._publish = None
        for subscription in (*self._subscriptions, *self._asked.values()):
            subscription.close()
        self._spool.close()
