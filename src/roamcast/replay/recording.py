"""A recording: the facts of one run as the columns that the viewer reads.

Nodes, events, filters and message types are numbers; frames and drops are cut into pieces of time, which a
file contains all and a server sends when they are asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import Facts, FactsError
from roamcast.replay.charts import draw_charts
from roamcast.replay.contents import carries_event, match_filters
from roamcast.replay.geometry import describe_ground
from roamcast.replay.losses import Losses, explain_losses
from roamcast.replay.packing import Packer

PIECE = 1 << 16
"Frames of a piece."

Numbers = npt.NDArray[np.int64]


class Recording:
    """One run for the viewer."""

    def __init__(self, facts: Facts, name: str = "") -> None:
        """Sort the tables of `facts`; `name` distinguishes runs of one page, by default the protocol."""
        self.facts = facts
        self.name = name or facts.run.protocol
        _check_nodes(facts)
        self.publications = _by(facts["publications"], "time", "publication")
        ids = self.publications["publication"].to_numpy()
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]
        self.transmissions = _by(facts["transmissions"], "time")
        self.drops = _by(facts["drops"], "time")
        self.messages: list[tuple[str, str]] = []
        "Category and kind of each message type."
        numbers: dict[tuple[str, str], int] = {}
        self._sent = _number_messages(self.transmissions, numbers)
        self._dropped = _number_messages(self.drops, numbers)
        self.messages = list(numbers)
        self._times = self.transmissions["time"].to_numpy()
        self._drop_times = self.drops["time"].to_numpy()

    @cached_property
    def losses(self) -> Losses:
        """Why expected deliveries were not made."""
        return explain_losses(self.facts)

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """The rows of the transmissions in each piece; a run without any has one empty piece."""
        count = len(self.transmissions)
        return [(first, min(first + PIECE, count)) for first in range(0, count, PIECE)] or [(0, 0)]

    def span(self, piece: int) -> tuple[float, float]:
        """When a piece starts and ends [s]."""
        pieces = self.pieces
        start = 0.0 if piece == 0 else float(self._times[pieces[piece][0]])
        last = piece + 1 == len(pieces)
        return start, self.facts.run.duration if last else float(self._times[pieces[piece + 1][0]])

    def pack_piece(self, packer: Packer, piece: int) -> dict[str, Any]:
        """Add the frames and drops of a piece; return what the header says of them."""
        first, last = self.pieces[piece]
        start, end = self.span(piece)
        rows = self.transmissions.slice(first, last - first)
        final = piece + 1 == len(self.pieces)
        low = int(np.searchsorted(self._drop_times, start)) if piece else 0
        high = len(self.drops) if final else int(np.searchsorted(self._drop_times, end))
        drops = self.drops.slice(low, high - low)
        causes = drops["cause"].combine_chunks()
        return {
            "start": start,
            "end": end,
            "frames": {
                "time": packer.times(_column(rows, "time")),
                "node": packer.numbers(_column(rows, "node")),
                "to": packer.numbers(_column(rows, "to").astype(np.int64) + 1),  # 0: everyone in range
                "message": packer.numbers(self._sent[first:last]),
                "event": packer.numbers(self._rows_of(rows) + 1),  # 0: none
                "size": packer.numbers(_column(rows, "size")),
                "attempts": packer.numbers(_column(rows, "attempts")),
                "failed": packer.numbers(_column(rows, "failed").astype(np.int64)),
                "airtime": packer.reals(_column(rows, "airtime")),
            },
            "drops": {
                "time": packer.times(_column(drops, "time")),
                "node": packer.numbers(_column(drops, "node")),
                "peer": packer.numbers(_column(drops, "peer").astype(np.int64) + 1),  # 0: nobody
                "message": packer.numbers(self._dropped[low:high]),
                "event": packer.numbers(self._rows_of(drops) + 1),
                "cause": packer.numbers(causes.indices.to_numpy()),
            },
            "causes": causes.dictionary.to_pylist(),
        }

    def pack(self, packer: Packer, *, whole: bool = True) -> dict[str, Any]:
        """Add the run, with all its pieces if `whole`; return its part of the header."""
        facts, run = self.facts, self.facts.run
        losses = self.losses
        events = self.publications["event"].to_pylist()
        return {
            "name": self.name,
            "scenario": run.scenario,
            "protocol": run.protocol,
            "seed": run.seed,
            "nodes": run.nodes,
            "duration": run.duration,
            "warmup": run.warmup,
            "frames": len(self.transmissions),
            "servedBy": str(run.traits.get("served_by") or ""),
            "ground": describe_ground(facts),
            "messages": self.messages,
            "carries": [carries_event(run, category, kind) for category, kind in self.messages],
            "charts": draw_charts(facts),
            "legs": self._pack_legs(packer),
            "publications": self._pack_publications(packer, events),
            "expectations": self._pack_pairs(packer, facts["expectations"]),
            "deliveries": self._pack_deliveries(packer),
            "losses": self._pack_losses(packer, losses),
            "interests": self._pack_interests(packer),
            "requests": self._pack_requests(packer, losses),
            "states": self._pack_states(packer),
            "filters": self._match(events),
            "pieces": [
                self.pack_piece(packer, piece)
                if whole
                else dict(zip(("start", "end"), self.span(piece), strict=True))
                for piece in range(len(self.pieces))
            ],
        }

    def find_passage(self, event: int) -> dict[str, Any]:
        """Return the copies of an event that were sent and the messages of it that were dropped."""
        wanted = self.publications["publication"][event].as_py()
        columns = ("time", "node", "to", "size", "attempts", "failed", "airtime")
        sent = np.flatnonzero(_column(self.transmissions, "publication") == wanted)
        dropped = np.flatnonzero(_column(self.drops, "publication") == wanted)
        copies = self.transmissions.select(columns).take(sent).to_pylist()
        losses = self.drops.select(("time", "node", "peer", "cause")).take(dropped).to_pylist()
        return {
            "copies": [
                copy | {"event": event, "message": int(message)}
                for copy, message in zip(copies, self._sent[sent], strict=True)
            ],
            "drops": [
                loss | {"event": event, "message": int(message)}
                for loss, message in zip(losses, self._dropped[dropped], strict=True)
            ],
        }

    def _rows_of(self, table: pa.Table) -> Numbers:
        """Return the row in the publications of each row's event; -1 where none is meant or known."""
        wanted = _column(table, "publication")
        if not len(self._ids):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return np.where(self._ids[at] == wanted, self._order[at], -1)

    def _pack_legs(self, packer: Packer) -> dict[str, Any]:
        legs = _by(self.facts["legs"], "node", "start")
        places = {
            name: packer.reals(_column(legs, name), exact=True)
            for name in legs.column_names
            if name != "node"
        }
        return {"node": packer.numbers(_column(legs, "node"))} | places

    def _pack_publications(self, packer: Packer, events: list[str]) -> dict[str, Any]:
        table = self.publications
        distinct = list(dict.fromkeys(events))
        numbers = {event: number for number, event in enumerate(distinct)}
        return {
            "publisher": packer.numbers(_column(table, "publication") >> 32),
            "sequence": packer.numbers(_column(table, "publication") & 0xFFFFFFFF),
            "time": packer.times(_column(table, "time")),
            "size": packer.numbers(_column(table, "size")),
            "content": packer.numbers(np.array([numbers[event] for event in events], np.int64)),
            "contents": distinct,
        }

    def _pack_pairs(self, packer: Packer, table: pa.Table) -> dict[str, Any]:
        rows, nodes = self._rows_of(table), _column(table, "node")
        known = (rows >= 0) & (nodes >= 0)
        order = np.lexsort((nodes[known], rows[known]))
        return {"event": packer.numbers(rows[known][order]), "node": packer.numbers(nodes[known][order])}

    def _pack_deliveries(self, packer: Packer) -> dict[str, Any]:
        table = _by(self.facts["deliveries"], "time")
        rows, nodes = self._rows_of(table), _column(table, "node").astype(np.int64)
        first = np.sort(np.unique(rows * self.facts.run.nodes + nodes, return_index=True)[1])
        first = first[rows[first] >= 0]
        return {
            "event": packer.numbers(rows[first]),
            "node": packer.numbers(nodes[first]),
            "time": packer.times(_column(table, "time")[first]),
        }

    def _pack_losses(self, packer: Packer, losses: Losses) -> dict[str, Any]:
        ids = pa.table({"publication": pa.array([loss.publication for loss in losses.events], pa.int64())})
        causes = {
            cause: number for number, cause in enumerate(dict.fromkeys(loss.cause for loss in losses.events))
        }
        return {
            "event": packer.numbers(self._rows_of(ids)),
            "node": packer.numbers(np.array([loss.node for loss in losses.events], np.int64)),
            "cause": packer.numbers(np.array([causes[loss.cause] for loss in losses.events], np.int64)),
            "proven": packer.numbers(np.array([loss.proven for loss in losses.events], np.int64)),
            "causes": list(causes),
            "stories": [loss.story for loss in losses.events],
            "untold": losses.untold,
        }

    def _pack_interests(self, packer: Packer) -> dict[str, Any]:
        table = _by(self.facts["interests"], "time")
        filters = table["wanted"].combine_chunks().dictionary_encode()
        return {
            "time": packer.times(_column(table, "time")),
            "node": packer.numbers(_column(table, "node")),
            "filter": packer.numbers(filters.indices.to_numpy()),
            "begins": packer.numbers(_column(table, "begins").astype(np.int64)),
            "filters": filters.dictionary.to_pylist(),
        }

    def _pack_requests(self, packer: Packer, losses: Losses) -> dict[str, Any]:
        table = _by(self.facts["requests"], "time", "request")
        told = [losses.requests.get(request, ("", [])) for request in table["request"].to_pylist()]
        return {
            "time": packer.times(_column(table, "time")),
            "node": packer.numbers(_column(table, "node")),
            "number": packer.numbers(_column(table, "request") & 0xFFFFFFFF),
            "answered": packer.reals(_column(table, "answered"), exact=True),
            "event": packer.numbers(self._rows_of(table) + 1),
            "wanted": table["wanted"].to_pylist(),
            "outcome": table["outcome"].to_pylist(),
            "causes": [cause for cause, _ in told],
            "stories": [story for _, story in told],
        }

    def _pack_states(self, packer: Packer) -> dict[str, Any]:
        table = _by(self.facts["states"], "time")
        names = table["name"].combine_chunks()
        return {
            "time": packer.times(_column(table, "time")),
            "node": packer.numbers(_column(table, "node")),
            "name": packer.numbers(names.indices.to_numpy()),
            "value": packer.reals(_column(table, "value"), exact=True),
            "names": names.dictionary.to_pylist(),
        }

    def _match(self, events: list[str]) -> dict[str, list[int]]:
        """Return for each filter of the run the numbers of the distinct contents that it matches."""
        return match_filters(self.facts, list(dict.fromkeys(events)))


def _by(table: pa.Table, *names: str) -> pa.Table:
    """Return a table sorted by columns; rows that are equal in them keep their order."""
    table = table.combine_chunks()
    keys = [table[name].to_numpy() for name in reversed(names)]
    order = np.lexsort(keys)
    return table if (order == np.arange(len(order))).all() else table.take(order).combine_chunks()


def _column(table: pa.Table, name: str) -> npt.NDArray[Any]:
    return np.asarray(table[name].to_numpy())


def _number_messages(table: pa.Table, numbers: dict[tuple[str, str], int]) -> Numbers:
    """Return the number of each row's message type, and add new types to `numbers`."""
    category, kind = (table[name].combine_chunks() for name in ("category", "kind"))
    pairs = category.indices.to_numpy().astype(np.int64) << 32 | kind.indices.to_numpy().astype(np.int64)
    distinct, inverse = np.unique(pairs, return_inverse=True)
    words = category.dictionary.to_pylist(), kind.dictionary.to_pylist()
    known = [
        numbers.setdefault((words[0][pair >> 32], words[1][pair & 0xFFFFFFFF]), len(numbers))
        for pair in distinct.tolist()
    ]
    return np.array(known, np.int64)[inverse] if len(pairs) else pairs


def _check_nodes(facts: Facts) -> None:
    """Refuse facts that name nodes which their run does not have."""
    for name in ("transmissions", "drops", "deliveries", "interests", "states", "legs", "requests"):
        nodes = facts[name]["node"].to_numpy()
        if len(nodes) and not 0 <= nodes.min() <= nodes.max() < facts.run.nodes:
            raise FactsError(
                f"{name}: a row names a node that the run does not have; it has {facts.run.nodes}"
            )
