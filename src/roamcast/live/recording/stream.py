"""Facts of a live node on disk, in small Parquet files ("segments") that other programs read meanwhile.

The folder has a subfolder for each table of `roamcast.facts.schema`, and `nodes` with a description of each
node. A segment is written under a hidden name and then renamed, so that readers find whole files only.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from roamcast.content.filter import Filter
from roamcast.errors import UserError
from roamcast.live.recording.observer import NodeObserver
from roamcast.routing.router import BROADCAST, Drop, Footprint, Message, NodeId, Publication
from roamcast.wire.message import unwrap

EVERY = 2.0
"Seconds between segments."
MOST_ROWS = 200_000
"Rows that wait for the next segment; further ones are counted as lost."
NODES = "nodes"
_UNTOLD = frozenset({Drop.DUPLICATE, Drop.NOT_MINE})


class NodeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader of the facts must know of a node: one file per start, in `nodes`."""

    node: NodeId
    name: str
    incarnation: int
    protocol: str
    parameters: dict[str, Any]
    types: dict[str, dict[str, Any]]
    start: float
    "When the node started, as the time of its facts [s]."


class FactsStream(NodeObserver):
    """Records the facts of one node and writes them as segments."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives the time of facts [s]; Unix time lets nodes on several machines agree."""
        from roamcast.facts.schema import TABLES

        self.folder = folder
        self.lost = 0
        "Rows that were not kept because the disk was too slow or full."
        self._clock = clock
        self._handed = 0.0
        "When the last event was handed to the router [s]."
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self._count = 0
        self._segment = 0
        self._node: NodeId = -1
        self._name = ""
        self._task: asyncio.Task[None] | None = None

    def started(self, node: NodeId, incarnation: int) -> None:
        """Name the segments after the node."""
        self._node = node
        self._name = f"{node}-{incarnation}"

    def describe(self, description: NodeDescription) -> None:
        """Write the description of the node."""
        folder = self.folder / NODES
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for table in self._rows:
                (self.folder / table).mkdir(exist_ok=True)
            hidden = folder / f".{self._name}"
            hidden.write_bytes(msgspec.json.encode(description))
            hidden.replace(folder / f"{self._name}.json")
        except OSError as error:
            raise UserError(f"{self.folder}: cannot write facts: {error.strerror or error}") from None

    def report(self) -> dict[str, Any]:
        """Return counters for `roamcast top`."""
        return {"segments": self._segment, "lost": self.lost}

    def start(self, every: float = EVERY) -> None:
        """Write a segment every so many seconds, in a thread."""
        self._task = asyncio.create_task(self._repeat(every))

    async def _repeat(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            await asyncio.to_thread(self._write, self._take())

    async def close(self) -> None:
        """Write the last segment."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.flush()

    def flush(self) -> None:
        """Write what is recorded so far."""
        self._write(self._take())

    def _take(self) -> dict[str, list[tuple[Any, ...]]]:
        taken, self._rows = self._rows, {name: [] for name in self._rows}
        self._count = 0
        return taken

    def _write(self, rows: dict[str, list[tuple[Any, ...]]]) -> None:
        import pyarrow.parquet as pq

        from roamcast.facts.tables import from_rows

        self._segment += 1
        for table, own in rows.items():
            if not own:
                continue
            # The process id: a node that lost its state folder would write the same names again.
            name = f"{self._name}-{os.getpid()}-{self._segment}.parquet"
            hidden = self.folder / table / f".{name}"
            try:
                pq.write_table(from_rows(table, own), hidden)
                hidden.replace(self.folder / table / name)
            except OSError:
                self.lost += len(own)

    def _add(self, table: str, *row: Any) -> None:
        if self._count < MOST_ROWS:
            self._count += 1
            self._rows[table].append(row)
        else:
            self.lost += 1

    def publishing(self) -> None:
        """Keep the time: the event may be delivered elsewhere before the router returns."""
        self._handed = self._clock()

    def published(self, publication: Publication) -> None:
        """Add a row to publications."""
        size, event = publication.size, publication.event.to_json()
        self._add("publications", publication.id, self._handed, publication.publisher, size, event)

    def delivered(self, publication: Publication) -> None:
        """Add a row to deliveries."""
        self._add("deliveries", publication.id, self._node, self._clock())

    def interest(self, wanted: Filter, begins: bool) -> None:
        """Add a row to interests."""
        self._add("interests", self._clock(), self._node, str(wanted), begins)

    def sent(self, message: Message, to: NodeId, size: int) -> None:
        """Add a row to transmissions; the node does not know the airtime."""
        columns = (*_tell(message), size, 1, False, 0.0)
        self._add("transmissions", self._clock(), self._node, to, *columns)

    def dropped(self, message: Message, reason: Drop, peer: NodeId = BROADCAST) -> None:
        """Add a row to drops."""
        if reason not in _UNTOLD:
            self.failed(message, peer, reason.name.lower())

    def failed(self, message: Message, to: NodeId, cause: str) -> None:
        """Add a row to drops."""
        self._add("drops", self._clock(), self._node, to, *_tell(message), cause)

    def state(self, name: str, value: float) -> None:
        """Add a row to states."""
        self._add("states", self._clock(), self._node, name, value)

    def table_sizes(self, tables: Mapping[str, Footprint]) -> None:
        """Add the sizes of the router's tables, all with one time."""
        now = self._clock()
        for name, size in tables.items():
            self._add("tables", now, self._node, name, size.entries, size.bytes)


def _tell(message: Message) -> tuple[str, str, int]:
    """Return category, kind and publication of a message."""
    return message.category.name.lower(), type(unwrap(message)).__name__, message.publication_id
