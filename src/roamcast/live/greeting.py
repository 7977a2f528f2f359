"""Greetings: nodes tell neighbours their public key and name, so that two nodes with one id are noticed."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from random import Random
from typing import NamedTuple

from roamcast.live.link.link import Link
from roamcast.live.link.packets import Port
from roamcast.live.security.identity import PUBLIC_BYTES, SIGNATURE_BYTES, Identity, node_id, verify
from roamcast.wire.field import NodeId

_log = logging.getLogger("roamcast.live")

PERIOD = 10.0
"Seconds between greetings."
SOON = 0.2
"A node that is heard for the first time is greeted within this time [s]."
MOST_NAME = 64
MOST_KNOWN = 1024
_CONTEXT = b"roamcast greeting 1 "


class Neighbour(NamedTuple):
    """What a node tells of itself."""

    public: bytes
    name: str


class Greeting:
    """The greetings of one node, and the contents of those that it received."""

    def __init__(self, link: Link, identity: Identity, network: bytes, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._link = link
        signed = _CONTEXT + network + identity.public
        self._payload = identity.public + identity.sign(signed) + name.encode()[:MOST_NAME]
        self._network = network
        self._random = Random()
        self.known: OrderedDict[NodeId, Neighbour] = OrderedDict()
        self.clashes: set[NodeId] = set()
        "Ids that two nodes use."
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Greet everyone now and periodically."""
        self._link.broadcast(Port.HELLO, self._payload)
        self._schedule(PERIOD * (0.9 + 0.2 * self._random.random()))

    def meet(self) -> None:
        """Greet soon: somebody new was heard."""
        if self._timer is not None and self._timer.when() > self._loop.time() + SOON:
            self._schedule(SOON * self._random.random())

    def take(self, payload: bytes, sender: NodeId) -> None:
        """Take a neighbour's greeting; one that is not signed by the owner of the id is dropped."""
        public, signature = payload[:PUBLIC_BYTES], payload[PUBLIC_BYTES : PUBLIC_BYTES + SIGNATURE_BYTES]
        known = self.known.get(sender)
        if known is not None and known.public == public:
            return
        if node_id(public) != sender or not verify(public, signature, _CONTEXT + self._network + public):
            return
        if known is not None:
            self._clash(sender)
            return
        name = payload[PUBLIC_BYTES + SIGNATURE_BYTES :][:MOST_NAME].decode(errors="replace")
        self.known[sender] = Neighbour(public, "".join(each for each in name if each.isprintable()))
        if len(self.known) > MOST_KNOWN:
            self.known.popitem(last=False)

    def _clash(self, node: NodeId) -> None:
        if node not in self.clashes and len(self.clashes) < MOST_KNOWN:
            self.clashes.add(node)
            _log.error("two nodes use the id %d; remove the file `identity` of one of them", node)

    def report_own_clash(self, node: NodeId) -> None:
        """Note that another node uses the id of this one."""
        self._clash(node)

    def close(self) -> None:
        """Greet no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self, delay: float) -> None:
        self.close()
        self._timer = self._loop.call_later(delay, self.start)
