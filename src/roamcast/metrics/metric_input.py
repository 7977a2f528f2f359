"""The input of metrics: the facts of a run after the warm-up, read once and on demand.

Deliveries count if the event was published after the warm-up; transmissions, drops, requests and table sizes
count if they happened after the warm-up. Sums are over sorted values or integers, so that they do not depend
on the order of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.contacts import find_contacts
from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.pairs import DeliveryPairs, pair_up
from roamcast.metrics.reach import MOST_CONTACTS, count_reachable
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
    """The settings of a run that metrics need besides the tables."""

    nodes: int
    warmup: float
    "Time at the start of the run that metrics leave out [s]."
    range: float | None
    "Radio range [m]; None if unknown."
    header: int | None
    "Size of the headers below the router [B]; None if unknown."
    beacons: frozenset[str] = frozenset()
    "Kinds of messages whose role is BEACON."
    powers: tuple[float, float] | None = None
    "Power of a LoRa radio that sends, and of one that receives [W]; None for 802.11."


def lora_powers(scenario: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the powers of sending and receiving in a resolved scenario [W]; None without a LoRa radio."""
    lora = scenario.get("radio", {}).get("lora")
    return None if lora is None else (lora["send_power"], lora["receive_power"])


def beacons_among(roles: Mapping[str, str]) -> frozenset[str]:
    """Return the kinds of messages whose role, by kind, is BEACON."""
    return frozenset(kind for kind, role in roles.items() if role == Role.BEACON.value)


class FactsSource(Protocol):
    """A source of the tables of a run."""

    def read(self, table: str, *columns: str) -> pa.Table:
        """Return the named columns of a table, in that order."""

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """Yield the named columns in batches, with strings dictionary-encoded; memory stays bounded."""


class TransmissionTotals(NamedTuple):
    """Sums over the transmissions."""

    categories: Counter[str]
    failed: int
    frames: int
    bytes: int
    airtime: float
    broadcast_frames: int
    broadcast_bytes: int
    unicast_messages: int
    unicast_sizes: Counter[int]
    "Unicast frames by the size of their message [B]."
    volumes: Counter[str]
    "Bytes by category [B]."
    kinds: Counter[str]
    "Messages by kind."


class RequestOutcomes(NamedTuple):
    """The outcomes of the requests."""

    satisfied: npt.NDArray[np.bool_]
    delay: Reals
    "Delay of each satisfied request [s]."
    fresh: npt.NDArray[np.bool_]
    "For each satisfied request, whether the event was published after the request."


class TableSamples(NamedTuple):
    """The total size of all tables of a node, for each sample of each node."""

    entries: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


class MetricInput:
    """The facts of one run as the metrics read them."""

    def __init__(
        self, source: FactsSource, setting: RunSettings, constants: MetricConstants | None = None
    ) -> None:
        self.source = source
        self.setting = setting
        self.constants = constants or MetricConstants()

    @cached_property
    def pairs(self) -> DeliveryPairs:
        """Return the expected and the delivered pairs of event and node."""
        published, expected = self._columns("publications"), self._columns("expectations")
        deadline = self.constants.deadline
        return pair_up(published, expected, self._columns("deliveries"), self.setting.warmup, deadline)

    @cached_property
    def reachable(self) -> int | None:
        """Return the number of expected pairs to which a path led; None if movement or range is unknown."""
        legs = self.source.read("legs", *READS["legs"])
        publication, time = self._columns("publications")
        ids, nodes = self._columns("expectations")
        if self.setting.range is None or not len(legs) or (nodes < 0).any():
            return None
        contacts = find_contacts(Tracks(legs, self.setting.nodes), self.setting.range)
        if len(contacts.a) > MOST_CONTACTS:
            return None
        order = np.argsort(publication, kind="stable")
        at = np.minimum(np.searchsorted(publication[order], ids), max(len(order) - 1, 0))
        known = publication[order][at] == ids if len(order) else np.zeros(len(ids), bool)
        pairs = np.unique(at[known] << 32 | nodes[known].astype(np.int64))
        row = pairs >> 32
        late = time[order][row] >= self.setting.warmup
        source, target = publication[order][row].astype(np.int64) >> 32, pairs & 0xFFFFFFFF
        of = (source[late], target[late], time[order][row][late])
        return count_reachable(contacts, self.setting.nodes, *of)

    @cached_property
    def transmissions(self) -> TransmissionTotals:
        """Return the sums over the transmissions."""
        categories: Counter[str] = Counter()
        volumes: Counter[str] = Counter()
        sums: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        unicast_sizes: Counter[int] = Counter()
        for rows in self.source.pieces("transmissions", *READS["transmissions"]):
            counted = rows["time"].to_numpy() >= self.setting.warmup
            categories += _count(rows["category"], counted)
            kinds += _count(rows["kind"], counted)
            frames = rows["attempts"].to_numpy()[counted].astype(np.int64)
            volume = rows["size"].to_numpy()[counted] * frames
            volumes += _count(rows["category"], counted, volume)
            broadcast = rows["to"].to_numpy()[counted] == -1
            sums["unicast_messages"] += int(np.count_nonzero(~broadcast))
            sums["failed"] += int(np.count_nonzero(_flags(rows["failed"])[counted]))
            sums["frames"] += int(frames.sum())
            sums["bytes"] += int(volume.sum())
            sums["broadcast_frames"] += int(frames[broadcast].sum())
            sums["broadcast_bytes"] += int(volume[broadcast].sum())
            often = np.bincount(rows["size"].to_numpy()[counted][~broadcast], frames[~broadcast])
            unicast_sizes.update({int(size): int(often[size]) for size in np.flatnonzero(often)})
            # Sums of integer nanoseconds do not depend on the order of rows.
            sums["airtime"] += int((rows["airtime"].to_numpy()[counted] * 1e9 + 0.5).astype(np.int64).sum())
        return TransmissionTotals(
            categories,
            sums["failed"],
            sums["frames"],
            sums["bytes"],
            sums["airtime"] / 1e9,
            sums["broadcast_frames"],
            sums["broadcast_bytes"],
            sums["unicast_messages"],
            unicast_sizes,
            volumes,
            kinds,
        )

    @cached_property
    def causes(self) -> Counter[str]:
        """Return the number of drops by cause."""
        causes: Counter[str] = Counter()
        for rows in self.source.pieces("drops", *READS["drops"]):
            causes += _count(rows["cause"], rows["time"].to_numpy() >= self.setting.warmup)
        return causes

    @cached_property
    def requests(self) -> RequestOutcomes:
        """Return the outcomes of the requests."""
        table = self.source.read("requests", *READS["requests"])
        counted = table["time"].to_numpy() >= self.setting.warmup
        outcomes = np.asarray(table["outcome"].cast(pa.string()).to_pylist(), object)[counted]
        satisfied = outcomes == "satisfied"
        delay = (table["answered"].to_numpy() - table["time"].to_numpy())[counted][satisfied]
        fresh = _flags(table["fresh"])[counted][satisfied]
        return RequestOutcomes(satisfied, np.sort(delay), fresh)

    @cached_property
    def table_samples(self) -> TableSamples:
        """Return the sizes of routers' tables."""
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
        """Return the mean number of nodes within range over nodes and time; None if the range is unknown."""
        legs = self.source.read("legs", *READS["legs"])
        if self.setting.range is None or not len(legs):
            return None
        tracks = Tracks(legs, self.setting.nodes)
        contacts = find_contacts(tracks, self.setting.range, edge=0.0)
        joined, walked = (self._lasting(spans.start, spans.end) for spans in (contacts, tracks))
        return 2 * joined / walked if walked > 0 else None

    def states(self, name: str) -> tuple[npt.NDArray[np.int64], Reals, Reals]:
        """Return node, time [s] and value of the state `name` in the whole run, sorted by node, then time."""
        table = self.source.read("states", *READS["states"])
        strings = table["name"].combine_chunks() if len(table) else None
        if strings is None or not len(strings):
            return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        chosen = np.asarray(strings.cast(pa.string()).to_pylist(), object) == name
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
    strings: pa.DictionaryArray, counted: npt.NDArray[np.bool_], each: npt.NDArray[np.int64] | None = None
) -> Counter[str]:
    """Return how often each string occurs in the rows `counted`, or the sum of `each` over these rows."""
    often = np.bincount(strings.indices.to_numpy()[counted], each, minlength=len(strings.dictionary))
    whole = often.astype(np.int64).tolist()  # floating-point sums of bytes are exact
    return Counter(dict(zip(strings.dictionary.to_pylist(), whole, strict=True)))
