"""A recording: the facts of one run as the columns that the viewer reads.

Nodes, events, filters and message types are numbers; frames and drops are cut into pieces of time, which a
file contains all and a server sends when they are asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from roamcast.facts.tables import Facts, FactsError
from roamcast.replay.contents import carries_event, match_filters
from roamcast.replay.geometry import describe_ground
from roamcast.replay.layout import place_by_links
from roamcast.replay.losses import MOST_EXPLAINED, MOST_SERVED, Loss, Losses, explain_losses
from roamcast.replay.packing import Packer
from roamcast.replay.parts.air import Air, check_nodes
from roamcast.replay.parts.event_losses import EventLosses
from roamcast.replay.parts.pairs import EventNumbers, Numbers, Pairs
from roamcast.replay.parts.rows import GroupedTables, column, in_order

_COPY = ("time", "node", "to", "size", "attempts", "failed", "airtime")
_LOSS = ("time", "node", "peer", "cause")


class Recording:
    """One run for the viewer."""

    def __init__(self, facts: Facts, name: str = "", source: GroupedTables | None = None) -> None:
        """Read the tables once; `name` distinguishes runs of one page, by default the protocol.

        Frames and drops are then read from `source` when they are needed; by default all stay in memory.
        """
        self.facts = facts
        self.name = name or facts.run.protocol
        for table in ("interests", "states", "legs", "requests"):
            check_nodes(facts.run, table, facts[table])
        self.publications = in_order(facts["publications"], "time", "publication")
        self._numbers = EventNumbers(self.publications["publication"].to_numpy())
        self._contents = self.publications["event"].combine_chunks().dictionary_encode()
        self._air = Air(facts, source)
        self._pairs = Pairs(facts, self.publications, source)
        self._served = source is not None
        self.messages = self._air.messages
        "Category and kind of each message type."

    @cached_property
    def losses(self) -> Losses:
        """Why expected deliveries were not made."""
        found = explain_losses(self.facts, self.frames, MOST_SERVED if self._served else MOST_EXPLAINED)
        if found.later and self._served:
            try:
                self._on_demand = EventLosses(self.facts, self._air, self._pairs)
            except FactsError as error:
                return Losses([], {}, str(error))
        elif found.later:
            why = "`roamcast replay --serve` explains the losses of the event that is chosen"
            return Losses([], {}, f"the run has too many losses or transmissions ({self.frames:,}); {why}")
        return found

    @cached_property
    def _losses_by_event(self) -> dict[int, list[Loss]]:
        found: dict[int, list[Loss]] = {}
        for loss in self.losses.events:
            found.setdefault(loss.publication, []).append(loss)
        return found

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
        """Add the frames, drops and deliveries of a piece; return what the header says of them."""
        rows, drops = (table.between(*self._air.span(piece)) for table in self._air.tables)
        deliveries = self._pairs.deliveries.between(*self._air.span(piece))
        deliveries = deliveries.filter(pa.array(self._rows_of(deliveries) >= 0))
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
            "deliveries": {
                "time": packer.times(column(deliveries, "time")),
                "node": packer.numbers(column(deliveries, "node")),
                "event": packer.numbers(self._rows_of(deliveries)),
            },
            "causes": causes.dictionary.to_pylist(),
        }

    def pack(self, packer: Packer, *, whole: bool = True) -> dict[str, Any]:
        """Add the run, with all its pieces if `whole`; return its part of the header."""
        facts, run, pairs = self.facts, self.facts.run, self._pairs
        losses = self.losses
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
            "charts": self._air.charts.draw(pairs.share, pairs.delay),
            "counted": pairs.count(),
            "first": pairs.first,
            "slowest": [each._asdict() for each in pairs.slowest],
            "counts": {
                "wanted": packer.numbers(pairs.wanted),
                "delivered": packer.numbers(pairs.delivered),
            },
            "legs": self._pack_legs(packer),
            "publications": self._pack_publications(packer),
            "expectations": self._pack_expectations(packer) if whole else {},
            "losses": self._pack_losses(packer, losses, whole),
            "interests": self._pack_interests(packer),
            "requests": self._pack_requests(packer, losses),
            "states": self._pack_states(packer),
            "filters": match_filters(facts, self._contents.dictionary.to_pylist()),
            "pieces": [
                self.pack_piece(packer, piece)
                if whole
                else dict(zip(("start", "end"), self.span(piece), strict=True))
                for piece in range(self.pieces)
            ],
        }

    def find_passage(self, event: int) -> dict[str, Any]:
        """Return the copies and drops of an event, who wanted it, who got it when, and why others did not."""
        row = self.publications.slice(event, 1)
        wanted = row["publication"][0].as_py()
        found = []
        for table, names in zip(self._air.tables, (_COPY, _LOSS), strict=True):
            rows = table.of_event(wanted)
            messages = self._air.number_messages(rows).tolist()
            found.append(
                [
                    each | {"event": event, "message": message}
                    for each, message in zip(rows.select(names).to_pylist(), messages, strict=True)
                ]
            )
        wants, got = self._pairs.nodes_wanting(event), self._pairs.nodes_reached(event)
        unavailable, losses = "", self._losses_by_event.get(wanted, [])
        if self.losses.later:
            try:
                losses = self._on_demand.explain(row, [node for node in wants if node not in got])
            except FactsError as error:
                unavailable = str(error)
        return {
            "copies": found[0],
            "drops": found[1],
            "wants": wants,
            "got": list(got.items()),
            "losses": [
                {"node": loss.node, "cause": loss.cause, "proven": loss.proven, "story": loss.story}
                for loss in losses
            ],
            "unavailable": unavailable,
        }

    def _rows_of(self, table: pa.Table) -> Numbers:
        """Return the number of each row's event; -1 where none is meant or known."""
        return self._numbers.of(column(table, "publication"))

    def _pack_legs(self, packer: Packer) -> dict[str, Any]:
        legs = in_order(self.facts["legs"], "node", "start")
        legs = legs if len(legs) else place_by_links(self.facts)
        places = {
            name: packer.reals(column(legs, name), exact=True) for name in legs.column_names if name != "node"
        }
        return {"node": packer.numbers(column(legs, "node"))} | places

    def _pack_publications(self, packer: Packer) -> dict[str, Any]:
        table = self.publications
        return {
            "publisher": packer.numbers(column(table, "publication") >> 32),
            "sequence": packer.numbers(column(table, "publication") & 0xFFFFFFFF),
            "time": packer.times(column(table, "time")),
            "size": packer.numbers(column(table, "size")),
            "content": packer.numbers(self._contents.indices.to_numpy()),
            "contents": self._contents.dictionary.to_pylist(),
        }

    def _pack_expectations(self, packer: Packer) -> dict[str, Any]:
        events, nodes = self._pairs.expected_pairs()
        return {"event": packer.numbers(events), "node": packer.numbers(nodes)}

    def _pack_losses(self, packer: Packer, losses: Losses, whole: bool) -> dict[str, Any]:
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
            "stories": [loss.story for loss in losses.events] if whole else [],
            "unavailable": losses.unavailable,
            "later": losses.later,
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
        parts = [losses.requests.get(request, ("", [])) for request in table["request"].to_pylist()]
        return {
            "time": packer.times(column(table, "time")),
            "node": packer.numbers(column(table, "node")),
            "number": packer.numbers(column(table, "request") & 0xFFFFFFFF),
            "answered": packer.reals(column(table, "answered"), exact=True),
            "event": packer.numbers(self._rows_of(table) + 1),
            "wanted": table["wanted"].to_pylist(),
            "outcome": table["outcome"].to_pylist(),
            "causes": [cause for cause, _ in parts],
            "stories": [story for _, story in parts],
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
