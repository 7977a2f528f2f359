"""Links for tests: what they heard, over a medium in virtual time or over sockets."""

import asyncio

from roamcast.live.link.link import Link
from roamcast.live.link.packets import Port
from roamcast.live.security.counters import FrameCounters
from roamcast.live.security.frame import Opener, Sealer
from roamcast.live.security.keys import NetworkKey
from tests.live import virtual

KEY = NetworkKey.of_open_network("test")
PROTOCOL = b"test"


class User:
    def __init__(self):
        self.payloads, self.failures, self.drops, self.neighbours, self.clashes = [], [], [], [], 0
        self.returns = []

    def take_message(self, message, sender):
        self.payloads.append((sender, message))

    def received(self, port, payload, sender):
        self.payloads.append((sender, payload))

    def failed(self, token, to):
        self.failures.append((token, to))

    def overflowed(self, token, to):
        self.drops.append((token, to))

    def met(self, node):
        self.neighbours.append(node)

    def returned(self, node):
        self.returns.append(node)

    def clashed(self):
        self.clashes += 1


def make(node, bearers, budget=None, counters=None, start=0):
    user = User()
    opener = Opener(KEY, PROTOCOL, node)
    link = Link(
        Sealer(KEY, PROTOCOL, node, counters or FrameCounters()), opener, bearers, user, budget, start=start
    )
    link.opener = opener
    link.start()
    return link, user


def pair(medium, **options):
    medium.join(1, 2)
    return (*make(1, [medium.bearer(1)], **options), *make(2, [medium.bearer(2)]))


def run(story):
    """Run a story over `Medium`, in virtual time: a busy machine changes nothing."""
    virtual.run(story())


def run_on_sockets(story):
    asyncio.run(asyncio.wait_for(story(), 120))


async def meet_each_other(a, b):
    """Let two nodes learn each other's address and round trip."""
    a.send(Port.HELLO, b"", 2, None)
    b.send(Port.HELLO, b"", 1, None)
    await asyncio.sleep(0.1)
