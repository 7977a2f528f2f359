"""The air of a run: its frames and drops, cut into pieces of time, and what one pass over them tells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import Facts, FactsError, RunManifest
from roamcast.replay.charts import Charts
from roamcast.replay.parts.rows import HELD_BYTES, GroupedTables, HeldTables, TimedRows

PIECE = 1 << 16
"Frames of a piece; frames of one time are in one piece."


class Air:
    """The transmissions and drops of a run."""

    def __init__(self, facts: Facts, source: GroupedTables | None) -> None:
        """Read the tables once; later again from `source`, or from memory without it."""
        held_bytes = None if source is None else HELD_BYTES
        source = HeldTables(facts) if source is None else source
        self.charts = Charts(facts.run.duration)
        self._pairs: set[tuple[str, str]] = set()

        def see_transmissions(rows: pa.Table) -> None:
            self._see(facts.run, "transmissions", rows)
            self.charts.add_transmissions(rows)

        def see_drops(rows: pa.Table) -> None:
            self._see(facts.run, "drops", rows)
            self.charts.add_drops(rows)

        self.transmissions = TimedRows(
            source,
            "transmissions",
            ("time", "node", "category", "kind", "failed", "airtime"),
            see_transmissions,
            held_bytes,
        )
        sent = sorted(self._pairs)
        drops = ("time", "node", "category", "kind", "cause")
        self.drops = TimedRows(source, "drops", drops, see_drops, held_bytes)
        self.tables = self.transmissions, self.drops
        self.messages = sent + sorted(self._pairs - set(sent))
        "Category and kind of each message type."
        self._numbers = {pair: number for number, pair in enumerate(self.messages)}
        self.starts = self._cut()
        "When each piece starts [s]; the first one has no start."

    def span(self, piece: int) -> tuple[float, float]:
        """Return from when to when frames belong to a piece [s]."""
        last = piece + 1 == len(self.starts)
        return self.starts[piece], np.inf if last else self.starts[piece + 1]

    def number_messages(self, rows: pa.Table) -> npt.NDArray[np.int64]:
        """Return the number of each row's message type."""
        inverse, pairs = _find_pairs(rows)
        return np.array([self._numbers[pair] for pair in pairs], np.int64)[inverse]

    def _see(self, run: RunManifest, table: str, rows: pa.Table) -> None:
        check_nodes(run, table, rows)
        self._pairs.update(_find_pairs(rows)[1])

    def _cut(self) -> list[float]:
        starts, seen = [-np.inf], 0
        for times in self.transmissions.times():
            for time in times[-seen % PIECE :: PIECE].tolist():
                if time > starts[-1]:
                    starts.append(time)
            seen += len(times)
        return [starts[0], *starts[2:]]  # the first frame is in the first piece


def check_nodes(run: RunManifest, name: str, rows: pa.Table) -> None:
    """Refuse rows that name nodes which the run does not have."""
    nodes = rows["node"].to_numpy()
    if len(nodes) and not 0 <= nodes.min() <= nodes.max() < run.nodes:
        raise FactsError(f"{name}: a row names a node that the run does not have; it has {run.nodes}")


def _find_pairs(rows: pa.Table) -> tuple[npt.NDArray[np.int64], list[tuple[str, str]]]:
    """Return the pairs of category and kind that occur, and for each row which it has."""
    category, kind = (rows[name].combine_chunks() for name in ("category", "kind"))
    codes = category.indices.to_numpy().astype(np.int64) << 32 | kind.indices.to_numpy().astype(np.int64)
    distinct, inverse = np.unique(codes, return_inverse=True)
    words = category.dictionary.to_pylist(), kind.dictionary.to_pylist()
    return inverse, [(words[0][code >> 32], words[1][code & 0xFFFFFFFF]) for code in distinct.tolist()]
