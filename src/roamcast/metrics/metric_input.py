"""A run as the metrics see it: what of its facts counts, read once and only if a metric asks.

A run is measured from its scenario's warm-up on. What happens to an event is counted if the event was
published after the warm-up; what is sent, asked or held is counted if that was after the warm-up. Sums run
over sorted values or whole numbers, so that they do not depend on the order of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.contacts import find_contacts
from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.pairs import DeliveryPairs, pair_up
from roamcast.routing.router import Role

Reals = npt.NDArray[np.float64]

READS: dict[str, tuple[str, ...]] = {
    "publications": ("publication", "time"),
    "expectations": ("publication", "node"),
    "deliveries": ("publication", "node", "time"),
    "transmissions": ("time", "to", "category", "kind", "size", "attempts", "failed", "airtime"),
    "drops": ("time", "cause"),
    "requests": ("time", "outcome", "answered", "fresh"),
    "tables": ("time", "node", "entries", "bytes"),
    "legs": tuple(TABLES["legs"].names),
    "states": ("time", "node", "name", "value"),
}
"The columns that metrics read, by table."


class RunSettings(NamedTuple):
    """What the metrics must know of a run besides its facts."""

    nodes: int
    warmup: float
    "Seconds left out of the metrics."
    range: float | None
    "Metres within which a frame is understood; None where that is not known."
    header: int | None
    "Bytes added to each message below the router; None where that is not known."
    beacons: frozenset[str] = frozenset()
    "Kinds of messages whose role is BEACONS."


def beacons_among(roles: Mapping[str, str]) -> frozenset[str]:
    """Return the kinds of messages whose role, by kind, is BEACONS."""
    return frozenset(kind for kind, role in roles.items() if role == Role.BEACONS.name.lower())


class FactsSource(Protocol):
    """Where facts come from."""

    def read(self, table: str, *columns: str) -> pa.Table:
        """The named columns of a table, in that order."""

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """The same piece by piece, so that a table of any length needs little memory; words are coded."""


class TransmissionTotals(NamedTuple):
    """Sums over the messages that were sent."""

    categories: Counter[str]
    failed: int
    frames: int
    bytes: int
    airtime: float
    broadcast_frames: int
    broadcast_bytes: int
    volumes: Counter[str]
    "Bytes by category."
    kinds: Counter[str]
    "Messages by kind."


class RequestOutcomes(NamedTuple):
    """The requests that were made."""

    satisfied: npt.NDArray[np.bool_]
    delay: Reals
    "From request to answer, of those satisfied."
    fresh: npt.NDArray[np.bool_]
    "Of those satisfied."


class TableSamples(NamedTuple):
    """What nodes held in all their tables together, at each sample of each node."""

    entries: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


class MetricInput:
    """The facts of one run, for metrics to ask."""

    def __init__(
        self, source: FactsSource, setting: RunSettings, constants: MetricConstants | None = None
    ) -> None:
        self.source = source
        self.setting = setting
        self.constants = constants or MetricConstants()

    @cached_property
    def pairs(self) -> DeliveryPairs:
        """Events with the nodes that expected them and got them."""
        published, expected = self._columns("publications"), self._columns("expectations")
        return pair_up(published, expected, self._columns("deliveries"), self.setting.warmup)

    @cached_property
    def transmissions(self) -> TransmissionTotals:
        """The messages that were sent, summed up."""
        categories: Counter[str] = Counter()
        volumes: Counter[str] = Counter()
        sums: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for rows in self.source.pieces("transmissions", *READS["transmissions"]):
            counted = rows["time"].to_numpy() >= self.setting.warmup
            categories += _count(rows["category"], counted)
            kinds += _count(rows["kind"], counted)
            frames = rows["attempts"].to_numpy()[counted].astype(np.int64)
            volume = rows["size"].to_numpy()[counted] * frames
            volumes += _count(rows["category"], counted, volume)
            broadcast = rows["to"].to_numpy()[counted] == -1
            sums["failed"] += int(np.count_nonzero(_flags(rows["failed"])[counted]))
            sums["frames"] += int(frames.sum())
            sums["bytes"] += int(volume.sum())
            sums["broadcast_frames"] += int(frames[broadcast].sum())
            sums["broadcast_bytes"] += int(volume[broadcast].sum())
            # Whole nanoseconds add up the same in every order.
            sums["airtime"] += int((rows["airtime"].to_numpy()[counted] * 1e9 + 0.5).astype(np.int64).sum())
        return TransmissionTotals(
            categories,
            sums["failed"],
            sums["frames"],
            sums["bytes"],
            sums["airtime"] / 1e9,
            sums["broadcast_frames"],
            sums["broadcast_bytes"],
            volumes,
            kinds,
        )

    @cached_property
    def causes(self) -> Counter[str]:
        """How often messages went no further, by cause."""
        causes: Counter[str] = Counter()
        for rows in self.source.pieces("drops", *READS["drops"]):
            causes += _count(rows["cause"], rows["time"].to_numpy() >= self.setting.warmup)
        return causes

    @cached_property
    def requests(self) -> RequestOutcomes:
        """The requests that applications made."""
        table = self.source.read("requests", *READS["requests"])
        counted = table["time"].to_numpy() >= self.setting.warmup
        outcomes = np.asarray(table["outcome"].cast(pa.string()).to_pylist(), object)[counted]
        satisfied = outcomes == "satisfied"
        delay = (table["answered"].to_numpy() - table["time"].to_numpy())[counted][satisfied]
        fresh = _flags(table["fresh"])[counted][satisfied]
        return RequestOutcomes(satisfied, np.sort(delay), fresh)

    @cached_property
    def table_samples(self) -> TableSamples:
        """The sizes of routers' tables."""
        time, node, entries, volume = self._columns("tables")
        counted = time >= self.setting.warmup
        _, moment = np.unique(time[counted], return_inverse=True)
        samples, of = np.unique(moment << 32 | node[counted].astype(np.int64), return_inverse=True)
        sums = [np.zeros(len(samples), np.int64) for _ in range(2)]
        for total, column in zip(sums, (entries, volume), strict=True):
            np.add.at(total, of, column[counted])
        return TableSamples(*sums)

    @cached_property
    def neighbours(self) -> float | None:
        """Nodes within range of a node, mean over nodes and time; None where nobody knows."""
        legs = self.source.read("legs", *READS["legs"])
        if self.setting.range is None or not len(legs):
            return None
        tracks = Tracks(legs, self.setting.nodes)
        contacts = find_contacts(tracks, self.setting.range, edge=0.0)
        joined, walked = (self._lasting(spans.start, spans.end) for spans in (contacts, tracks))
        return 2 * joined / walked if walked > 0 else None

    def states(self, name: str) -> tuple[npt.NDArray[np.int64], Reals, Reals]:
        """What routers told of themselves under a name, in the whole run: node, time and value, in order."""
        table = self.source.read("states", *READS["states"])
        words = table["name"].combine_chunks() if len(table) else None
        if words is None or not len(words):
            return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        chosen = np.asarray(words.cast(pa.string()).to_pylist(), object) == name
        time, node, value = (table[column].to_numpy()[chosen] for column in ("time", "node", "value"))
        order = np.lexsort((value, time, node))
        return node[order].astype(np.int64), time[order], value[order]

    def _lasting(self, start: Reals, end: Reals) -> float:
        since = self.setting.warmup
        return float(np.sort(np.maximum(end, since) - np.maximum(start, since)).sum())

    def _columns(self, table: str) -> tuple[npt.NDArray[np.float64], ...]:
        return tuple(column.to_numpy() for column in self.source.read(table, *READS[table]).columns)


def _flags(column: pa.Array) -> npt.NDArray[np.bool_]:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(whole.to_numpy(zero_copy_only=False), bool)


def _count(
    words: pa.DictionaryArray, counted: npt.NDArray[np.bool_], each: npt.NDArray[np.int64] | None = None
) -> Counter[str]:
    """How often each word occurs among the rows `counted`, or how much of `each` these rows have together."""
    often = np.bincount(words.indices.to_numpy()[counted], each, minlength=len(words.dictionary))
    whole = often.astype(np.int64).tolist()  # sums of bytes are exact as floating-point numbers, too
    return Counter(dict(zip(words.dictionary.to_pylist(), whole, strict=True)))
