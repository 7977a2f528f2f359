"""The metrics of one run, from its facts.

An event counts if it was published after the warm-up, a message if it was sent after it. Delivered is
what was expected and came, however late; the delay is that of its first coming.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import Facts
from roamcast.routing.router import Category


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """What a run amounts to; None where there is nothing to divide by."""

    scenario: str
    protocol: str
    seed: int
    nodes: int
    sim_seconds: float
    delivery_rate: float | None
    "delivered / expected"
    delay_mean: float | None
    "Seconds from publication to first delivery, over what was delivered."
    delay_p50: float | None
    delay_p95: float | None
    publications: int
    expected: int
    "Pairs of an event and a node that wanted it when it was published."
    delivered: int
    "Expected pairs that were delivered."
    unexpected: int
    "Pairs delivered that were not expected."
    duplicates: int
    "Deliveries after the first of their pair."
    messages: dict[str, int]
    "Messages sent by category, each once whatever the link's retries; and their total."
    frames: dict[str, int]
    "The whole run's frames by what became of them."
    drops: dict[str, int]
    "The whole run's messages that routers let go, by reason."
    cpu_seconds: float | None
    events_processed: int

    def to_json(self) -> str:
        """The metrics as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_dict(self) -> dict[str, Any]:
        """The metrics as plain Python values."""
        return msgspec.structs.asdict(self)


def measure(facts: Facts) -> Metrics:
    """The metrics of a run."""
    run = facts.run
    publications = facts["publications"]
    ids = publications["publication"].to_numpy()
    published = publications["time"].to_numpy()
    counted = published >= run.warmup
    order = np.argsort(ids[counted])
    ids, published = ids[counted][order], published[counted][order]

    expected = np.unique(_pairs(ids, facts["expectations"], run.nodes)[0])
    arrivals, times = _pairs(ids, facts["deliveries"], run.nodes, with_time=True)
    order = np.lexsort((times, arrivals))
    arrived, first = np.unique(arrivals[order], return_index=True)
    wanted = np.isin(arrived, expected, assume_unique=True)
    delays = times[order][first][wanted] - published[arrived[wanted] // max(run.nodes, 1)]
    delivered = int(wanted.sum())
    return Metrics(
        scenario=run.scenario,
        protocol=run.protocol,
        seed=run.seed,
        nodes=run.nodes,
        sim_seconds=run.duration,
        delivery_rate=delivered / len(expected) if len(expected) else None,
        delay_mean=float(delays.mean()) if delivered else None,
        delay_p50=float(np.percentile(delays, 50)) if delivered else None,
        delay_p95=float(np.percentile(delays, 95)) if delivered else None,
        publications=len(ids),
        expected=len(expected),
        delivered=delivered,
        unexpected=len(arrived) - delivered,
        duplicates=len(arrivals) - len(arrived),
        messages=_messages(facts["transmissions"], run.warmup),
        frames=run.frames,
        drops=run.drops,
        cpu_seconds=facts.cpu_seconds,
        events_processed=run.happenings,
    )


def _pairs(
    ids: npt.NDArray[np.int64], table: pa.Table, nodes: int, with_time: bool = False
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Pairs of an event in the sorted `ids` and a node, each as one number; and their times."""
    about = table["publication"].to_numpy()
    place = np.searchsorted(ids, about)
    known = place < len(ids)
    known[known] = ids[place[known]] == about[known]
    pairs = place[known] * nodes + table["node"].to_numpy()[known]
    return pairs, table["time"].to_numpy()[known] if with_time else np.empty(0)


def _messages(transmissions: pa.Table, warmup: float) -> dict[str, int]:
    counted = transmissions["time"].to_numpy() >= warmup
    words = transmissions["category"].combine_chunks()
    names = words.dictionary.to_pylist()
    counts = np.bincount(words.indices.to_numpy()[counted], minlength=len(names)).tolist()
    by_name = dict(zip(names, counts, strict=True))
    told = {category.name.lower(): by_name.get(category.name.lower(), 0) for category in Category}
    return {**told, "total": sum(told.values())}
