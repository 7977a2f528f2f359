"""A node of the testbed: a process that runs one live node and its applications by a schedule."""

from __future__ import annotations

import asyncio
import os
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from roamcast.facts.tracks import Tracks
from roamcast.live.config import Config
from roamcast.live.link.bearer import Bearer
from roamcast.live.link.datagrams import Address
from roamcast.live.node import Node
from roamcast.live.recording.session import describe
from roamcast.live.recording.stream import FactsStream
from roamcast.live.subscription import Subscription
from roamcast.routing.router import NodeId, Position, Publication, Velocity
from roamcast.testbed.schedule import NodeSchedule

LAG_EVERY = 0.1
"Seconds between two measurements of how late a node's timers are."


class NodeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of a node process when it ends."""

    lags: list[float]
    "How late its timers were [s]."
    drops: dict[str, int]
    "Messages that the router dropped, by reason."
    errors: int
    "Exceptions out of the router."


class TestbedBearer(Bearer):
    """An inherited socket; a broadcast is one datagram to the medium."""

    def __init__(self, inherited: socket.socket, medium: Address) -> None:
        super().__init__()
        self._inherited = inherited
        self._medium = medium

    def open_sockets(self) -> list[socket.socket]:
        """Return the inherited socket."""
        return [self._inherited]

    def destinations(self) -> list[Address]:
        """The medium's common socket."""
        return [self._medium]


@dataclass
class NodeTask:
    """The input of a node process, besides its schedule."""

    config: Config
    bearer: Callable[[], Bearer]
    folder: Path
    "Where the node writes its facts."
    start: float
    "The start of the run on the monotonic clock [s]."
    duration: float
    sample: float
    tracks: Tracks
    grants_location: bool
    audience: Callable[[Publication], list[NodeId]] | None
    position_of: Callable[[NodeId], Position | None] | None

    def now(self) -> float:
        """Return the time of the run [s]."""
        return time.monotonic() - self.start


def fork(task: NodeTask, schedule: NodeSchedule, life: int) -> int:
    """Start a process for one life of a node; return its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        asyncio.run(_live(task, schedule, life))
        code = 0
    except BaseException:
        (task.folder / f"traceback-{schedule.node}-{life}.txt").write_text(traceback.format_exc())
    finally:
        os._exit(code)


async def _live(task: NodeTask, schedule: NodeSchedule, life: int) -> None:
    begins, ends = schedule.lives[life]
    loop = asyncio.get_running_loop()
    stream = FactsStream(task.folder, task.now)
    await asyncio.sleep(max(begins - task.now(), 0.0))
    track = _Track(task.tracks, schedule.node, task.now) if task.grants_location else None
    async with Node(task.config, [task.bearer()], stream, track) as node:
        stream.describe(describe(node, task.now()))
        if task.audience is not None:
            node.router.audience = task.audience
        if task.position_of is not None:
            node.router.position_of = task.position_of
        application = _Application(node, schedule, begins)
        lags: list[float] = []
        workers = [
            asyncio.create_task(application.publish(task.now)),
            asyncio.create_task(application.follow_interests(task.now)),
            asyncio.create_task(_measure_lag(loop, lags)),
            asyncio.create_task(_sample_tables(node, stream, task)),
        ]
        await asyncio.sleep(max(min(ends, task.duration) - task.now(), 0.0))
        for worker in workers:
            worker.cancel()
        ended = await asyncio.gather(*workers, return_exceptions=True)
        stream.flush()
        report = NodeReport(lags=lags, drops=dict(node.host.drops), errors=node.host.errors)
        (task.folder / f"report-{schedule.node}-{life}.json").write_bytes(msgspec.json.encode(report))
        for error in ended:
            if isinstance(error, Exception):
                raise error
        if ends < task.duration:
            os._exit(0)  # a crash: nothing is saved or closed


class _Application:
    """The publisher and the subscriber of a node."""

    def __init__(self, node: Node, schedule: NodeSchedule, begins: float) -> None:
        self._node = node
        self._schedule = schedule
        self._begins = begins
        self._held: list[Subscription] = []
        for filter in schedule.advertised:
            node.advertise(filter)
        for filter in schedule.subscribed_at(begins) if begins else ():
            self._held.append(node.subscribe(filter))

    async def publish(self, now: Callable[[], float]) -> None:
        """Publish the scheduled events, each at its time; one that the router refuses waits."""
        for planned in self._schedule.publications:
            if planned.time >= self._begins:
                await asyncio.sleep(max(planned.time - now(), 0.0))
                await self._node.publish(planned.event, size=planned.size)

    async def follow_interests(self, now: Callable[[], float]) -> None:
        """Subscribe and unsubscribe by the schedule."""
        for change in self._schedule.interests:
            if change.time < self._begins:
                continue
            await asyncio.sleep(max(change.time - now(), 0.0))
            if change.begins:
                self._held.append(self._node.subscribe(change.filter))
            else:
                held = next(each for each in self._held if each.filter == change.filter)
                self._held.remove(held)
                held.close()


class _Track:
    """The position and the velocity of a node, from the scenario's movement."""

    def __init__(self, tracks: Tracks, node: NodeId, now: Callable[[], float]) -> None:
        self._tracks = tracks
        self._node = node
        self._now = now

    def __call__(self) -> tuple[Position, Velocity]:
        now = self._now()
        x, y = map(float, self._tracks.position(self._node, now))
        later = self._tracks.position(self._node, now + 0.1)
        return Position(x, y), Velocity((float(later[0]) - x) / 0.1, (float(later[1]) - y) / 0.1)


async def _measure_lag(loop: asyncio.AbstractEventLoop, lags: list[float]) -> None:
    due = loop.time()
    while True:
        due = max(due + LAG_EVERY, loop.time())
        await asyncio.sleep(due - loop.time())
        lags.append(loop.time() - due)


async def _sample_tables(node: Node, stream: FactsStream, task: NodeTask) -> None:
    number = 1
    while True:
        await asyncio.sleep(max(number * task.sample - task.now(), 0.0))
        stream.table_sizes(node.router.tables())
        number += 1
