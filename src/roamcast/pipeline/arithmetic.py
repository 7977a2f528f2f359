"""The arithmetic of one run's metrics that group-bys cannot say: pairs, percentiles, requests, neighbours.

Pure NumPy over one run's facts; `measure` calls it once for each run, inside Spark. Sums run over sorted
values, so that they do not depend on the order in which Spark hands rows over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from roamcast.facts.contacts import find_contacts
from roamcast.facts.tracks import Tracks

Longs = NDArray[np.int64]
Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]


def mean(values: Reals) -> float | None:
    """The mean, the same for every order of `values`; None of nothing."""
    return float(np.sort(values).sum() / len(values)) if len(values) else None


def measure_pairs(
    published: tuple[Longs, Reals],
    expected: tuple[Longs, Longs],
    delivered: tuple[Longs, Longs, Reals],
    warmup: float,
) -> dict[str, float | None]:
    """Delivery and delay: `published` is (publication, time), `expected` (publication, node), `delivered`
    (publication, node, time)."""
    counted = published[1] >= warmup
    order = np.argsort(published[0][counted], kind="stable")
    ids, times = published[0][counted][order], published[1][counted][order]
    wanted = np.unique(_pair(ids, expected[0], expected[1])[1])
    known, got = _pair(ids, delivered[0], delivered[1])
    when = delivered[2][known]
    by_pair = np.lexsort((when, got))
    got, when = got[by_pair], when[by_pair]
    first = np.ones(len(got), bool)
    first[1:] = got[1:] != got[:-1]
    hit = first & np.isin(got, wanted, assume_unique=False)
    of = got[hit] >> 32
    delays = np.sort(when[hit] - times[of])
    shares = _share(np.bincount(of, minlength=len(ids)), np.bincount(wanted >> 32, minlength=len(ids)))
    shares_below = (50, 90, 95, 99)
    cuts = np.percentile(delays, shares_below).tolist() if len(delays) else [None] * len(shares_below)
    return {
        "publications": float(len(ids)),
        "expected": float(len(wanted)),
        "delivered": float(len(delays)),
        "delivery_rate": len(delays) / len(wanted) if len(wanted) else None,
        "delivery_rate_mean": mean(shares),
        "false_deliveries": float(first.sum() - len(delays)),
        "duplicate_deliveries": float(len(got) - first.sum()),
        "delay_mean": mean(delays),
        **{f"delay_p{share}": cut for share, cut in zip(shares_below, cuts, strict=True)},
        "delay_max": float(delays[-1]) if len(delays) else None,
    }


def _pair(ids: Longs, publication: Longs, node: Longs) -> tuple[Bools, Longs]:
    """Which rows speak of one of `ids` (sorted), and for these: index << 32 | node."""
    at = np.searchsorted(ids, publication)
    known = np.zeros(len(publication), bool)
    inside = at < len(ids)
    known[inside] = ids[at[inside]] == publication[inside]
    return known, (at[known].astype(np.int64) << 32) | node[known].astype(np.int64)


def _share(got: Longs, wanted: Longs) -> Reals:
    asked = wanted > 0
    return got[asked] / wanted[asked]


def measure_requests(
    interests: Iterable[tuple[float, int, str, bool]],
    deliveries: Iterable[tuple[float, int, str]],
    warmup: float,
    matches: Callable[[str, str], bool],
) -> dict[str, float | None]:
    """Answers to requests: `interests` are (time, node, wanted, begins), `deliveries` (time, node, event).

    A request is an interest that begins at or after the warm-up; it lasts until the same node stops wanting
    the same, and is answered by the first delivery there that it matches.
    """
    heard: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for time, node, event in deliveries:
        heard[node].append((time, event))
    for rows in heard.values():
        rows.sort()
    open_since: dict[tuple[int, str], float] = {}
    spans: list[tuple[int, str, float, float]] = []
    for time, node, wanted, begins in sorted(interests, key=lambda row: (row[0], row[3], row[1], row[2])):
        if begins:
            open_since.setdefault((node, wanted), time)
        elif (node, wanted) in open_since:
            spans.append((node, wanted, open_since.pop((node, wanted)), time))
    spans += [(node, wanted, since, float("inf")) for (node, wanted), since in open_since.items()]
    requests = [span for span in spans if span[2] >= warmup]
    delays = []
    for node, wanted, since, until in requests:
        rows = heard[node]
        for time, event in rows[bisect_left(rows, (since, "")) :]:
            if time > until:
                break
            if matches(wanted, event):
                delays.append(time - since)
                break
    return {
        "requests": float(len(requests)),
        "answer_rate": len(delays) / len(requests) if requests else None,
        "response_delay": mean(np.array(delays)),
    }


def count_neighbours(legs: pa.Table, reach: float, warmup: float) -> float | None:
    """Nodes within `reach` of a node, mean over nodes and over the time after the warm-up."""
    if not len(legs):
        return None
    tracks = Tracks(legs, int(np.max(legs["node"].to_numpy())) + 1)
    contacts = find_contacts(tracks, reach, edge=0.0)
    lasting = np.sort(np.clip(contacts.end, warmup, None) - np.clip(contacts.start, warmup, None))
    measured = np.sort(np.clip(tracks.end, warmup, None) - np.clip(tracks.start, warmup, None))
    return float(2 * lasting.sum() / measured.sum()) if measured.sum() > 0 else None
