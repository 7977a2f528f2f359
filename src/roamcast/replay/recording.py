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

from roamcast.facts.tables import Facts
from roamcast.replay.air import Air, check_nodes
from roamcast.replay.contents import carries_event, match_filters
from roamcast.replay.geometry import describe_ground
from roamcast.replay.losses import MOST_EXPLAINED, MOST_SERVED, Losses, explain_losses
from roamcast.replay.packing import Packer
from roamcast.replay.rows import GroupedTables, column, in_order

_COPY = ("time", "node", "to", "size", "attempts", "failed", "airtime")
_LOSS = ("time", "node", "peer", "cause")

Numbers = npt.NDArray[np.int64]


class Recording:
    """One run for the viewer."""

    def __init__(self, facts: Facts, name: str = "", source: GroupedTables | None = None) -> None:
        """Read the tables once; `name` distinguishes runs of one page, by default the protocol.

        Frames and drops are then read from `source` when they are needed; by default all stay in memory.
        """
        self.facts = facts
        self.name = name or facts.run.protocol
        for table in ("deliveries", "interests", "states", "legs", "requests"):
            check_nodes(facts.run, table, facts[table])
        self.publications = in_order(facts["publications"], "time", "publication")
        ids = self.publications["publication"].to_numpy()
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]
        self._air = Air(facts, source)
        self._most_explained = MOST_EXPLAINED if source is None else MOST_SERVED
        self.messages = self._air.messages
        "Category and kind of each message type."

    @cached_property
    def losses(self) -> Losses:
        """Why expected deliveries were not made."""
        return explain_losses(self.facts, self.frames, self._most_explained)

    @property
    def frames(self) -> int:
        """Number of transmissions."""
        return len(self._air.transmissions)

    @property
    def pieces(self) -> int:
        """Number of pieces; a run without transmissions has an empty one."""
        return len(self._air.starts)

    def span(self, piece: int) -> tuple[float, float]:
        """When a piece starts and ends [s]."""
        start, end = self._air.span(piece)
        return max(start, 0.0) if piece == 0 else start, min(end, self.facts.run.duration)

    def pack_piece(self, packer: Packer, piece: int) -> dict[str, Any]:
        """Add the frames and drops of a piece; return what the header says of them."""
        rows, drops = (table.between(*self._air.span(piece)) for table in self._air.tables)
        start, end = self.span(piece)
        causes = drops["cause"].combine_chunks()
        return {
            "start": start,
            "end": end,
            "frames": {
                "time": packer.times(column(rows, "time")),
                "node": packer.numbers(column(rows, "node")),
                "to": packer.numbers(column(rows, "to").astype(np.int64) + 1),  # 0: everyone in range
                "message": packer.numbers(self._air.number_messages(rows)),
                "event": packer.numbers(self._rows_of(rows) + 1),  # 0: none
                "size": packer.numbers(column(rows, "size")),
                "attempts": packer.numbers(column(rows, "attempts")),
                "failed": packer.numbers(column(rows, "failed").astype(np.int64)),
                "airtime": packer.reals(column(rows, "airtime")),
            },
            "drops": {
                "time": packer.times(column(drops, "time")),
                "node": packer.numbers(column(drops, "node")),
                "peer": packer.numbers(column(drops, "peer").astype(np.int64) + 1),  # 0: nobody
                "message": packer.numbers(self._air.number_messages(drops)),
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
            "frames": self.frames,
            "servedBy": str(run.traits.get("served_by") or ""),
            "ground": describe_ground(facts),
            "messages": self.messages,
            "carries": [carries_event(run, category, kind) for category, kind in self.messages],
            "charts": self._air.charts.draw(facts),
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
                for piece in range(self.pieces)
            ],
        }

    def find_passage(self, event: int) -> dict[str, Any]:
        """Return the copies of an event that were sent and the messages of it that were dropped."""
        wanted = self.publications["publication"][event].as_py()
        found = []
        for table, names in zip(self._air.tables, (_COPY, _LOSS), strict=True):
            rows = table.of_publication(wanted)
            messages = self._air.number_messages(rows).tolist()
            found.append(
                [
                    row | {"event": event, "message": message}
                    for row, message in zip(rows.select(names).to_pylist(), messages, strict=True)
                ]
            )
        return {"copies": found[0], "drops": found[1]}

    def _rows_of(self, table: pa.Table) -> Numbers:
        """Return the row in the publications of each row's event; -1 where none is meant or known."""
        wanted = column(table, "publication")
        if not len(self._ids):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return np.where(self._ids[at] == wanted, self._order[at], -1)

    def _pack_legs(self, packer: Packer) -> dict[str, Any]:
        legs = in_order(self.facts["legs"], "node", "start")
        places = {
            name: packer.reals(column(legs, name), exact=True) for name in legs.column_names if name != "node"
        }
        return {"node": packer.numbers(column(legs, "node"))} | places

    def _pack_publications(self, packer: Packer, events: list[str]) -> dict[str, Any]:
        table = self.publications
        distinct = list(dict.fromkeys(events))
        numbers = {event: number for number, event in enumerate(distinct)}
        return {
            "publisher": packer.numbers(column(table, "publication") >> 32),
            "sequence": packer.numbers(column(table, "publication") & 0xFFFFFFFF),
            "time": packer.times(column(table, "time")),
            "size": packer.numbers(column(table, "size")),
            "content": packer.numbers(np.array([numbers[event] for event in events], np.int64)),
            "contents": distinct,
        }

    def _pack_pairs(self, packer: Packer, table: pa.Table) -> dict[str, Any]:
        nodes = column(table, "node").astype(np.int64)
        pairs = self._rows_of(table)
        known = (pairs >= 0) & (nodes >= 0)
        pairs = (pairs << 32 | nodes)[known]  # one number to sort: there may be millions
        pairs.sort()
        return {"event": packer.numbers(pairs >> 32), "node": packer.numbers(pairs & 0xFFFFFFFF)}

    def _pack_deliveries(self, packer: Packer) -> dict[str, Any]:
        table = in_order(self.facts["deliveries"], "time")
        rows, nodes = self._rows_of(table), column(table, "node").astype(np.int64)
        first = np.sort(np.unique(rows * self.facts.run.nodes + nodes, return_index=True)[1])
        first = first[rows[first] >= 0]
        return {
            "event": packer.numbers(rows[first]),
            "node": packer.numbers(nodes[first]),
            "time": packer.times(column(table, "time")[first]),
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
        table = in_order(self.facts["interests"], "time")
        filters = table["wanted"].combine_chunks().dictionary_encode()
        return {
            "time": packer.times(column(table, "time")),
            "node": packer.numbers(column(table, "node")),
            "filter": packer.numbers(filters.indices.to_numpy()),
            "begins": packer.numbers(column(table, "begins").astype(np.int64)),
            "filters": filters.dictionary.to_pylist(),
        }

    def _pack_requests(self, packer: Packer, losses: Losses) -> dict[str, Any]:
        table = in_order(self.facts["requests"], "time", "request")
        told = [losses.requests.get(request, ("", [])) for request in table["request"].to_pylist()]
        return {
            "time": packer.times(column(table, "time")),
            "node": packer.numbers(column(table, "node")),
            "number": packer.numbers(column(table, "request") & 0xFFFFFFFF),
            "answered": packer.reals(column(table, "answered"), exact=True),
            "event": packer.numbers(self._rows_of(table) + 1),
            "wanted": table["wanted"].to_pylist(),
            "outcome": table["outcome"].to_pylist(),
            "causes": [cause for cause, _ in told],
            "stories": [story for _, story in told],
        }

    def _pack_states(self, packer: Packer) -> dict[str, Any]:
        table = in_order(self.facts["states"], "time")
        names = table["name"].combine_chunks()
        return {
            "time": packer.times(column(table, "time")),
            "node": packer.numbers(column(table, "node")),
            "name": packer.numbers(names.indices.to_numpy()),
            "value": packer.reals(column(table, "value"), exact=True),
            "names": names.dictionary.to_pylist(),
        }

    def _match(self, events: list[str]) -> dict[str, list[int]]:
        """Return for each filter of the run the numbers of the distinct contents that it matches."""
        return match_filters(self.facts, list(dict.fromkeys(events)))
