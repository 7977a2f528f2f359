"""Compute which expected deliveries some path made possible, from movement alone.

Two nodes are connected while they are within range, a hop takes no time, and a node may carry an event for
any time. So an expected delivery without a path here was impossible for every protocol.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from roamcast.facts.contacts import Contacts

MOST_CONTACTS = 5_000_000
"Contacts of a run above which reachability is not computed: it would take longer than ten seconds."


def count_reachable(
    contacts: Contacts,
    nodes: int,
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    time: npt.NDArray[np.float64],
) -> int:
    """Return to how many of the pairs a path led from `source` to `target` from `time` [s] to the end.

    Time is followed backwards: `heard[v]` has a bit for each node that information of `v` reaches from then
    on. The nodes of a connected component have the same bits, so only a new contact of two components costs
    more than a comparison, and once every node reaches every other, so it does at all earlier times.
    """
    heard = [1 << node for node in range(nodes)]
    everyone, missing = (1 << nodes) - 1, nodes
    linked: list[Counter[int]] = [Counter() for _ in range(nodes)]
    queries = np.argsort(-time, kind="stable")
    questions = list(
        zip(source[queries].tolist(), target[queries].tolist(), time[queries].tolist(), strict=True)
    )
    found = next_query = 0
    for moment, begins, a, b in _events(contacts):
        while next_query < len(questions) and questions[next_query][2] > moment:
            one, other, _ = questions[next_query]
            found += heard[one] >> other & 1
            next_query += 1
        if not begins:
            linked[a][b] -= 1
            linked[b][a] -= 1
            continue
        linked[a][b] += 1
        linked[b][a] += 1
        if heard[a] != heard[b]:
            both = heard[a] | heard[b]
            for node in _component(linked, a):
                missing -= both == everyone and heard[node] != everyone
                heard[node] = both
            if missing == 0:
                break
    found += sum(heard[one] >> other & 1 for one, other, _ in questions[next_query:])
    return int(found)


def _events(contacts: Contacts) -> list[tuple[float, bool, int, int]]:
    """Return ends (True: backwards in time a contact begins there) and starts of contacts, latest first."""
    pairs = list(zip(contacts.a.tolist(), contacts.b.tolist(), strict=True))
    events = [(end, True, a, b) for end, (a, b) in zip(contacts.end.tolist(), pairs, strict=True)]
    events += [(start, False, a, b) for start, (a, b) in zip(contacts.start.tolist(), pairs, strict=True)]
    events.sort(key=lambda event: (-event[0], not event[1]))  # closed intervals that touch are both there
    return events


def _component(linked: list[Counter[int]], start: int) -> set[int]:
    """Return the nodes that links connect to `start`."""
    known, waiting = {start}, [start]
    while waiting:
        for peer, count in linked[waiting.pop()].items():
            if count > 0 and peer not in known:
                known.add(peer)
                waiting.append(peer)
    return known
