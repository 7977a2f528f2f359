"""Compute the expected and the delivered pairs of event and node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Columns = tuple[npt.NDArray[np.float64], ...]


class DeliveryPairs(NamedTuple):
    """Expected and delivered pairs of event and node, for the events published after the warm-up."""

    publications: int
    expected: int
    delays: Reals
    "Time from publication to first delivery of each expected pair that was delivered, sorted [s]."
    shares: Reals
    "For each expected event, the share of the expecting nodes that received it; sorted."
    unexpected: int
    "Delivered pairs that were not expected."
    duplicates: int
    "Deliveries after the first of their pair."
    seconds: float
    "Time from the first publication to the last first delivery of an expected pair; 0 if none [s]."

    def percentile(self, share: float) -> float | None:
        """Return the percentile `share` (0 to 100) of the delays, interpolated linearly [s]; None if none."""
        return float(np.percentile(self.delays, share)) if len(self.delays) else None


def pair_up(
    published: Columns, expected: Columns, delivered: Columns, warmup: float, deadline: float | None = None
) -> DeliveryPairs:
    """Return the pairs of three tables, given as columns, for publications after `warmup` [s].

    The columns are `published` (publication, time), `expected` (publication, node) and `delivered`
    (publication, node, time). An expected pair that is delivered later than `deadline` [s] after the
    publication counts as not delivered.
    """
    counted = published[1] >= warmup
    order = np.argsort(published[0][counted], kind="stable")
    ids, times = published[0][counted][order], published[1][counted][order]
    listed = expected[1] >= 0
    wanted = _distinct(_pair(ids, expected[0][listed], expected[1][listed])[1])
    known, got = _pair(ids, delivered[0], delivered[1])
    when = delivered[2][known]
    by_pair = np.lexsort((when, got))
    got, when = got[by_pair], when[by_pair]
    first = np.ones(len(got), bool)
    first[1:] = got[1:] != got[:-1]
    hit = first & _among(got, wanted)
    expected_hits = hit.sum()
    if deadline is not None:
        hit &= when - times[got >> 32] <= deadline if len(got) else hit
    of = got[hit] >> 32
    asking = np.bincount(wanted >> 32, minlength=len(ids))
    if not listed.all():  # expecting nodes were counted, and listed only if they received it
        _, counts = _pair(ids, expected[0][~listed], -expected[1][~listed])
        asking[counts >> 32] = counts & 0xFFFFFFFF
    shares = np.bincount(of, minlength=len(ids))[asking > 0] / asking[asking > 0]
    return DeliveryPairs(
        publications=len(ids),
        expected=int(asking.sum()),
        delays=np.sort(when[hit] - times[of]),
        shares=np.sort(shares),
        unexpected=int(first.sum() - expected_hits),
        duplicates=int(len(got) - first.sum()),
        seconds=float(when[hit].max() - times.min()) if hit.any() else 0.0,
    )


def _distinct(keys: Longs) -> Longs:
    """Return the distinct `keys`, sorted; `np.unique` takes ten times as long for many distinct keys."""
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def _among(keys: Longs, known: Longs) -> npt.NDArray[np.bool_]:
    """Return for each of `keys` whether it is one of `known`, which is sorted."""
    if not len(known):
        return np.zeros(len(keys), bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys)


def _pair(ids: Reals, publication: Reals, node: Reals) -> tuple[npt.NDArray[np.bool_], Longs]:
    """Return which rows have a publication of `ids` (sorted), and for these rows: index << 32 | node."""
    at = np.searchsorted(ids, publication)
    known = np.zeros(len(publication), bool)
    inside = at < len(ids)
    known[inside] = ids[at[inside]] == publication[inside]
    return known, (at[known].astype(np.int64) << 32) | node[known].astype(np.int64)
