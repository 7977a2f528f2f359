"""Curves of one run: deliveries by delay, and delivery, load and connectivity over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.contacts import find_contacts
from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks

Reals = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

DELAYS = np.logspace(-3, 3, 73)
"The delays for which the share of deliveries is computed [s]."

BINS = 40
"Number of equal parts of a run for which delivery, load and connectivity are computed."

COLUMNS: dict[str, tuple[str, ...]] = {
    "publications": ("publication", "time"),
    "expectations": ("publication", "node"),
    "deliveries": ("publication", "node", "time"),
    "transmissions": ("time", "airtime"),
    "legs": tuple(TABLES["legs"].names),
}
"The columns of facts from which curves are computed."

Tables = Mapping[str, pa.Table]


class RunPairs(NamedTuple):
    """The expected pairs of event and node of one run, published after the warm-up."""

    publication: Longs
    node: Longs
    published: Reals
    delay: Reals
    "Time from publication to first delivery [s]; infinite if there was none."

    @property
    def delivered(self) -> npt.NDArray[np.bool_]:
        """Return which pairs were delivered."""
        return np.isfinite(self.delay)


def pair_deliveries(tables: Tables, warmup: float) -> RunPairs | None:
    """Return the expected pairs; None if the facts only count the nodes that expected an event."""
    ids, when = (tables["publications"][name].to_numpy() for name in COLUMNS["publications"])
    order = np.argsort(ids, kind="stable")
    ids, when = ids[order], when[order]
    wanted, nodes = (tables["expectations"][name].to_numpy() for name in COLUMNS["expectations"])
    if (nodes < 0).any() or not len(ids):
        return None
    rows, kept = _rows_of(ids, wanted)
    key = np.unique(rows << 32 | nodes[kept].astype(np.int64))
    key = key[when[key >> 32] >= warmup]
    delay = np.full(len(key), np.inf)
    got, receiver, arrived = (tables["deliveries"][name].to_numpy() for name in COLUMNS["deliveries"])
    rows, kept = _rows_of(ids, got)
    pair = rows << 32 | receiver[kept].astype(np.int64)
    at = np.minimum(np.searchsorted(key, pair), max(len(key) - 1, 0))
    known = key[at] == pair if len(key) else np.zeros(len(pair), bool)
    np.minimum.at(delay, at[known], arrived[kept][known] - when[rows[known]])
    return RunPairs(ids[key >> 32], key & 0xFFFFFFFF, when[key >> 32], delay)


def _rows_of(ids: Longs, wanted: Longs) -> tuple[Longs, npt.NDArray[np.bool_]]:
    """Return the rows of the `wanted` publications in the sorted `ids`, and which of them are known."""
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    kept = ids[at] == wanted
    return at[kept].astype(np.int64), kept


def mean_common_delays(runs: Sequence[RunPairs], deadline: float | None = None) -> list[float] | None:
    """Return each run's mean delay over the pairs that all `runs` delivered (within `deadline`) [s].

    None if there is no such pair.
    """
    if not runs:
        return None
    ids = np.unique(np.concatenate([run.publication for run in runs]))
    latest = np.finfo(np.float64).max if deadline is None else deadline
    keys, delays = [], []
    for run in runs:
        there = run.delay <= latest
        keys.append(np.searchsorted(ids, run.publication[there]) << 32 | run.node[there])
        delays.append(run.delay[there])
    common = keys[0]
    for key in keys[1:]:
        common = np.intersect1d(common, key, assume_unique=True)
    if not len(common):
        return None
    of = [delay[np.isin(key, common)] for key, delay in zip(keys, delays, strict=True)]
    return [float(np.sort(delay).sum() / len(delay)) for delay in of]


def delivered_within(pairs: RunPairs) -> list[float]:
    """Return the share of all expected pairs that was delivered within each of `DELAYS`."""
    found = np.searchsorted(np.sort(pairs.delay[pairs.delivered]), DELAYS, side="right")
    return [round(float(each), 6) for each in found / max(len(pairs.delay), 1)]


def delivered_over_time(pairs: RunPairs, duration: float, deadline: float | None) -> list[float | None]:
    """Return the share delivered (within the `deadline`) of what was published in each part of the run."""
    part = _part(pairs.published, duration)
    wanted = np.bincount(part, minlength=BINS)
    got = np.bincount(part[pairs.delay <= (deadline or np.finfo(np.float64).max)], minlength=BINS)
    return [round(float(g / w), 6) if w else None for g, w in zip(got, wanted, strict=True)]


def load_over_time(tables: Tables, duration: float) -> list[float]:
    """Return the airtime of all nodes per second in each part of the run."""
    time, airtime = (tables["transmissions"][name].to_numpy() for name in COLUMNS["transmissions"])
    spent = np.bincount(_part(time, duration), airtime, BINS) / (duration / BINS)
    return [round(float(each), 6) for each in spent]


def connectivity_over_time(
    tables: Tables, pairs: RunPairs, nodes: int, range: float, duration: float
) -> list[float | None]:
    """Return the share of the expected pairs with a path from publisher to node, by time of publication.

    The network is looked at in the middle of each part of the run.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(tables["legs"]):
        return []
    contacts = find_contacts(Tracks(tables["legs"], nodes), range)
    part, publisher = _part(pairs.published, duration), pairs.publication >> 32
    shares: list[float | None] = []
    for number, moment in enumerate((np.arange(BINS) + 0.5) * duration / BINS):
        chosen = part == number
        if not chosen.any():
            shares.append(None)
            continue
        now = (contacts.start <= moment) & (moment <= contacts.end)
        links = coo_array((np.ones(now.sum()), (contacts.a[now], contacts.b[now])), (nodes, nodes))
        component = connected_components(links, directed=False)[1]
        joined = component[publisher[chosen]] == component[pairs.node[chosen]]
        shares.append(round(float(joined.mean()), 6))
    return shares


def _part(times: Reals, duration: float) -> Longs:
    return np.clip(times / duration * BINS, 0, BINS - 1).astype(np.int64)
