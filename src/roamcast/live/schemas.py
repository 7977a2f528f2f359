"""Event types that travel: a node asks its neighbours for types that it does not know."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from roamcast.content.declare import declare_type, write_type
from roamcast.content.errors import ContentError
from roamcast.content.schema import EventType
from roamcast.live.link.link import Link
from roamcast.live.link.packets import Port
from roamcast.live.security.counters import replace_file
from roamcast.wire.field import NodeId

_log = logging.getLogger("roamcast.live")

FINGERPRINT = 8
"Bytes of a type's fingerprint."
MOST_DEFINITION = 60_000
"Bytes of a type's definition."
MOST_TYPES = 256
"Types learned from others; more are not taken."
MOST_ASKED = 32
"Types asked for at a time."
MOST_PARKED = 1 << 18
"Bytes of messages that wait for their type; the oldest makes room."
_OVERHEAD = 512
"Bytes counted for each of these messages besides its payload."
ASK_EVERY = 0.5
"Seconds between requests for a type."
REQUESTS = 10


class DefinitionError(ValueError):
    """Bytes that define no event type."""


def write_definition(type: EventType) -> bytes:
    """Return a type's definition in bytes."""
    return json.dumps([type.name, write_type(type)], separators=(",", ":")).encode()


def read_definition(data: bytes) -> EventType:
    """Return the type that `write_definition` wrote; anything else is a `DefinitionError`."""
    if len(data) > MOST_DEFINITION:
        raise DefinitionError(f"a definition of {len(data)} bytes; {MOST_DEFINITION} are the most")
    try:
        name, fields = json.loads(data)
        if not isinstance(name, str) or not isinstance(fields, dict):
            raise DefinitionError("a definition is a name and a table of fields")
        return declare_type(name, fields)
    except (ValueError, TypeError, RecursionError, ContentError, OverflowError) as error:
        raise DefinitionError(str(error)[:200]) from None


class TypeExchange:
    """The event types of a node, those that it asks for, and the messages that wait for them."""

    def __init__(
        self,
        link: Link,
        known: dict[str, EventType],
        again: Callable[[Port, bytes, NodeId], None],
        folder: Path | None,
    ) -> None:
        """`again` takes a parked payload as the link gave it once its type is known; `folder` keeps types."""
        self._loop = asyncio.get_running_loop()
        self._link = link
        self._again = again
        self._folder = folder
        self.by_name = dict(known)
        self.by_fingerprint = {type.fingerprint.hex(): type for type in known.values()}
        self._asked: OrderedDict[bytes, asyncio.TimerHandle] = OrderedDict()
        self._parked: OrderedDict[int, tuple[bytes, Port, bytes, NodeId]] = OrderedDict()
        self._count = 0
        self.parked_bytes = 0
        self.learned = 0
        self.given_up = 0
        "Parked messages whose type did not come."
        if folder is not None:
            self._load(folder)

    def add(self, type: EventType) -> None:
        """Know a type of this node's application."""
        self.by_name[type.name] = type
        self.by_fingerprint[type.fingerprint.hex()] = type

    def park(self, port: Port, payload: bytes, sender: NodeId, fingerprint: bytes) -> None:
        """Keep a message until its type is known, and ask its sender for the type."""
        self._parked[self._count] = (fingerprint, port, payload, sender)
        self._count += 1
        self.parked_bytes += _OVERHEAD + len(payload)
        while self.parked_bytes > MOST_PARKED:
            self._forget(next(iter(self._parked)))
        if fingerprint not in self._asked and self.learned < MOST_TYPES:
            if len(self._asked) >= MOST_ASKED:
                self._give_up(next(iter(self._asked)))
            self._ask(fingerprint, sender, 1)

    def _ask(self, fingerprint: bytes, sender: NodeId, request: int) -> None:
        self._asked.pop(fingerprint, None)
        if request > REQUESTS:
            self._give_up(fingerprint)
            return
        self._link.send(Port.TYPE_QUERY, fingerprint, sender, None)
        # Later requests go to everyone: the one that sent the message may have left.
        if request > 2:
            self._link.broadcast(Port.TYPE_QUERY, fingerprint)
        self._asked[fingerprint] = self._loop.call_later(
            ASK_EVERY, self._ask, fingerprint, sender, request + 1
        )

    def answer(self, fingerprint: bytes, sender: NodeId) -> None:
        """Send a neighbour the definition of a type, if it is known here."""
        type = self.by_fingerprint.get(fingerprint.hex())
        if type is not None and len(fingerprint) == FINGERPRINT:
            self._link.send(Port.TYPE, write_definition(type), sender, None)

    def take(self, data: bytes) -> None:
        """Take a type that was asked for; the definition must hash to its fingerprint."""
        if not self._asked:
            return
        try:
            type = read_definition(data)
        except DefinitionError as error:
            _log.warning("a neighbour sent a bad definition of an event type: %s", error)
            return
        timer = self._asked.pop(type.fingerprint, None)
        if timer is None:
            return
        timer.cancel()
        self.learned += 1
        self.by_fingerprint[type.fingerprint.hex()] = type
        self.by_name.setdefault(type.name, type)
        if self._folder is not None:
            replace_file(self._folder / f"{type.fingerprint.hex()}.json", data)
        waiting = [(key, each) for key, each in self._parked.items() if each[0] == type.fingerprint]
        for key, (_, _, payload, _) in waiting:
            self.parked_bytes -= _OVERHEAD + len(payload)
            del self._parked[key]
        for _, (_, port, payload, sender) in waiting:
            self._again(port, payload, sender)

    def close(self) -> None:
        """Ask no more."""
        for timer in self._asked.values():
            timer.cancel()
        self._asked.clear()

    def _load(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob("*.json"))[:MOST_TYPES]:
            try:
                type = read_definition(path.read_bytes())
            except (OSError, DefinitionError):
                continue  # it will be asked for again
            self.learned += 1
            self.by_fingerprint.setdefault(type.fingerprint.hex(), type)
            self.by_name.setdefault(type.name, type)

    def _give_up(self, fingerprint: bytes) -> None:
        timer = self._asked.pop(fingerprint, None)
        if timer is not None:
            timer.cancel()
        for key in [key for key, each in self._parked.items() if each[0] == fingerprint]:
            self._forget(key)

    def _forget(self, key: int) -> None:
        self.parked_bytes -= _OVERHEAD + len(self._parked.pop(key)[2])
        self.given_up += 1
