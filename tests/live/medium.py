"""A medium between the bearers of one process: topology, loss, duplicates, damage and delay."""

import asyncio
from random import Random

from roamcast.live.link.bearer import Bearer


class Medium:
    """Carries datagrams between bearers that are in range of each other."""

    def __init__(self, seed=1, loss=0.0, duplicates=0.0, corruption=0.0, delay=0.0):
        self.random = Random(seed)
        self.loss, self.duplicates, self.corruption, self.delay = loss, duplicates, corruption, delay
        self.bearers = {}
        self.edges = set()
        self.sent = []

    def bearer(self, name):
        return MediumBearer(self, name)

    def join(self, a, b):
        self.edges |= {(a, b), (b, a)}

    def part(self, a, b):
        self.edges -= {(a, b), (b, a)}

    def carry(self, source, target, data):
        self.sent.append((source, target, len(data)))
        if (source, target) not in self.edges or self.random.random() < self.loss:
            return
        for _ in range(2 if self.random.random() < self.duplicates else 1):
            arriving = bytearray(data)
            if self.random.random() < self.corruption:
                arriving[self.random.randrange(len(arriving))] ^= 1 << self.random.randrange(8)
            wait = self.random.random() * self.delay
            asyncio.get_running_loop().call_later(wait, self._land, source, target, bytes(arriving))

    def _land(self, source, target, data):
        bearer = self.bearers.get(target)
        if bearer is not None:
            bearer.arrive(data, (source,))
            bearer.drained()


class MediumBearer(Bearer):
    def __init__(self, medium, name):
        super().__init__()
        self.medium, self.name = medium, name

    def start(self, arrive, drained):
        self.arrive, self.drained = arrive, drained
        self.medium.bearers[self.name] = self

    def broadcast(self, data):
        for other in list(self.medium.bearers):
            if other != self.name:
                self.medium.carry(self.name, other, data)

    def send(self, data, address):
        self.medium.carry(self.name, address[0], data)

    def close(self):
        self.medium.bearers.pop(self.name, None)


async def until(condition, seconds=30.0):
    """Wait until a condition holds; fail after a generous time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        assert loop.time() < end, "it did not happen in time"
        await asyncio.sleep(0.005)
