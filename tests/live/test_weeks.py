"""Weeks of a live node in virtual time: every counter passes its end under load, and memory does not grow.

`python -m tests.live.test_weeks [SECONDS]` publishes 100 events/s for an hour and prints the resident memory.
"""

import asyncio
import gc
import json
import sys
from pathlib import Path

import pytest

from roamcast.live import Config, Node
from roamcast.live.security.counters import MOST
from roamcast.live.security.publication_numbers import NUMBERS, PublicationNumbers
from tests.live.medium import Medium
from tests.live.network import FIELDS, alert
from tests.live.virtual import run

RATE = 100


class Line:
    """Nodes in a line over a medium in one process, which can be restarted with their state folders."""

    def __init__(self, folder, count, seed=1, **faults):
        self.folder = folder
        self.medium = Medium(seed=seed, **faults)
        self.nodes = {}
        self.got = []
        self.count = count
        for number in range(count - 1):
            self.medium.join(number, number + 1)

    def state(self, number):
        return self.folder / f"s{number}"

    async def start(self, number):
        config = Config(types={"alert": FIELDS}, state=self.state(number))
        self.nodes[number] = await Node(config, [self.medium.bearer(number)]).__aenter__()
        if number == self.count - 1:
            self.reader = asyncio.create_task(self.read(self.nodes[number].subscribe("/alert")))

    async def read(self, subscription):
        async for event in subscription:
            self.got.append(event["level"])

    async def stop(self, number):
        node = self.nodes.pop(number)
        assert node.host.errors == 0
        await node.__aexit__(None, None, None)

    async def publish(self, level):
        return await self.nodes[0].publish(alert(level))


async def all_wraps(folder, seed):
    """Publish while each counter of each node passes its end; return what was published and delivered."""
    line = Line(folder, 3, seed=seed, loss=0.1, duplicates=0.1, delay=0.005)
    epochs = []
    for number in range(3):
        await line.start(number)
        await line.stop(number)
        state = line.state(number)
        epoch = json.loads((state / "counters").read_text())["epoch"]
        (state / "counters").write_text(f'{{"epoch":{epoch},"counter":{MOST - 3000}}}')
        epochs.append(epoch)
        (state / "incarnation").write_text("253")
        (state / "publications").write_text(str(NUMBERS - 4096 - 250))
    lives, published = [], []
    for number in range(3):
        await line.start(number)
    for life in range(5):
        first = len(published)
        line.nodes[0].advertise("/alert")
        line.nodes[0].router.serial = 2**32 - 3  # of its advertisements
        await asyncio.sleep(8)
        receipt = None
        for _ in range(600):
            receipt = await line.publish(len(published))
            published.append(receipt.publication.sequence)
            await asyncio.sleep(1 / RATE)
        assert await asyncio.wait_for(receipt.acknowledged(), 60)
        lives.append((first, len(published)))
        for number in (1, 0):  # the relay, then the publisher
            await line.stop(number)
            await line.start(number)
        await asyncio.sleep(5)
        assert line.nodes[0].host.incarnation == (255 + life) % 256
    for number in list(line.nodes):
        await line.stop(number)
        assert json.loads((line.state(number) / "counters").read_text())["epoch"] > epochs[number]
    return published, line.got


@pytest.mark.parametrize("seed", range(2))
def test_every_counter_passes_its_end_under_load_and_nothing_is_lost(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("roamcast.live.security.counters.BLOCK", 500)
    published, got = run(all_wraps(tmp_path, seed))
    assert got == list(range(len(published)))
    assert min(published) < 2000 and max(published) > NUMBERS - 1000  # over the end of the circle
    assert len(set(published)) == len(published)


def test_numbers_are_not_repeated_and_go_round(tmp_path):
    used = []
    for _ in range(5):
        numbers = PublicationNumbers(tmp_path / "n", NUMBERS - 30, block=8)
        used += [numbers.take() for _ in range(11)]
    assert len(set(used)) == len(used)
    assert {0, NUMBERS + 1}.isdisjoint(used) and min(used) < 5 and max(used) > NUMBERS - 5


@pytest.mark.parametrize("damage", [b"", b"-5", b"x", b"9" * 39])
def test_damaged_numbers_are_refused_with_the_name_of_the_file(tmp_path, damage):
    (tmp_path / "n").write_bytes(damage)
    with pytest.raises(Exception, match="remove the state folder"):
        PublicationNumbers(tmp_path / "n")


def resident():
    """Resident memory of this process [MB]."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


async def load(folder, seconds, say=lambda *_: None):
    """Publish 100 events/s; return the resident memory [MB] after each tenth of the time."""
    line = Line(folder, 3, delay=0.002)
    for number in range(3):
        await line.start(number)
    line.nodes[0].advertise("/alert")
    await asyncio.sleep(10)
    found = []
    for part in range(10):
        for number in range(seconds * RATE // 10):
            await line.publish(number)
            await asyncio.sleep(1 / RATE)
        await asyncio.sleep(2)
        assert line.got == list(range(seconds * RATE // 10))
        line.got.clear()
        line.medium.sent.clear()
        found.append(resident())
        say(f"{(part + 1) * seconds / 10:.0f} s: {found[-1]:.2f} MB")
    for number in list(line.nodes):
        await line.stop(number)
    return found


@pytest.mark.slow
def test_memory_is_flat_under_load(tmp_path):
    found = run(load(tmp_path, 1200))
    assert found[-1] - found[4] <= 2.0, found


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        run(load(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else 3600, print))
