"""The facts of a testbed run, from the medium's records and the segments of the nodes.

Live ids become the scenario's node numbers. Repetitions of a datagram by the live link are one transmission
with several attempts, as retries of the MAC are in the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from roamcast.facts.tables import from_rows
from roamcast.routing.router import NodeId
from roamcast.sim.world import LINK_CAUSES
from roamcast.testbed.frames import Carried
from roamcast.testbed.schedule import NodeSchedule

RETRIED = "retry_limit"
"A cause of the MAC that is no loss here: the live link sends again."


def end_interests(interests: pa.Table, schedules: Sequence[NodeSchedule], duration: float) -> pa.Table:
    """Return the interests, with the end of those that a crashed node had."""
    rows = list(zip(*(interests[name].to_pylist() for name in interests.column_names), strict=True))
    for own in schedules:
        for start, end in own.lives:
            if end < duration:
                mine = [row for row in rows if row[1] == own.node and start <= row[0] < end]
                held = {row[2]: row[3] for row in mine}
                rows += [(end, own.node, filter, False) for filter, begins in held.items() if begins]
    return from_rows("interests", sorted(rows, key=lambda row: row[0]))


def transmissions(
    records: Mapping[str, Any], carried: Sequence[Carried], numbers: Mapping[NodeId, int]
) -> pa.Table:
    """Return the transmissions, from the kernel's records of datagrams."""
    merged: dict[tuple[int, ...], list[Any]] = {}
    columns = (records[name].tolist() for name in _SENT)
    for time, node, to, datagram, attempts, failed, airtime in zip(*columns, strict=True):
        message = carried[datagram]
        key = message.transfer or (datagram,)
        found = merged.get(key)
        if found is None:
            addressed = to if message.to is None else numbers.get(message.to, -1)
            about = _renumber_publication(message.publication, numbers)
            description = (message.category, message.kind, about, message.size)
            merged[key] = [time, node, addressed, *description, attempts, bool(failed), airtime]
        else:  # the live link has repeated it
            found[7] = min(found[7] + attempts, np.iinfo(np.int16).max)
            found[8] = bool(failed)
            found[9] += airtime
    return from_rows("transmissions", sorted(merged.values(), key=lambda row: row[0]))


_SENT = ("time", "node", "to", "publication", "attempts", "failed", "airtime")
"Columns of the kernel's transmissions; publication is the number of the datagram."


def lost_frames(
    records: Mapping[str, Any], carried: Sequence[Carried], numbers: Mapping[NodeId, int]
) -> pa.Table:
    """Return the drops by radio and MAC, from the kernel's records of datagrams."""
    rows = []
    columns = (records[name].tolist() for name in ("time", "node", "peer", "publication", "cause"))
    for time, node, peer, datagram, code in zip(*columns, strict=True):
        message, cause = carried[datagram], LINK_CAUSES[code]
        if cause != RETRIED:
            about = _renumber_publication(message.publication, numbers)
            rows.append((time, node, peer, message.category, message.kind, about, cause))
    return from_rows("drops", rows)


def _renumber_publication(id: int, numbers: Mapping[NodeId, int]) -> int:
    if id < 0:
        return -1
    return numbers.get(id >> 32, -1) << 32 | id & 0xFFFFFFFF
