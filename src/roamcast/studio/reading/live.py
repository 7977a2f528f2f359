"""The last minutes of live nodes, from the facts that they write: events that pass, and a replay."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from roamcast.facts.live.network import read_live, read_nodes
from roamcast.replay.parts.pairs import Pairs
from roamcast.replay.parts.rows import in_order
from roamcast.studio.reading.files import check_frames

MOST_EVENTS = 40
"Events that are listed, the latest."

MOST_RECEIVERS = 12
"Receivers of an event that are listed by name."


def list_events(folder: str, last: float) -> dict[str, Any]:
    """Return the latest events of the `last` seconds, with the nodes that got them and their delays."""
    place = Path(folder)
    nodes = read_nodes(place)
    names = [each.name or f"node {number}" for number, each in enumerate(nodes)]
    now = time.time()
    facts = read_live(place, last, now)
    start = max(nodes[0].start, now - last)
    publications = in_order(facts["publications"], "time", "publication")
    pairs = Pairs(facts, publications, None)
    found = []
    for number in reversed(range(max(len(publications) - MOST_EVENTS, 0), len(publications))):
        row = publications.slice(number, 1).to_pylist()[0]
        wants, got = pairs.nodes_wanting(number), pairs.nodes_reached(number)
        found.append(
            {
                "ago": round(now - start - row["time"], 3),
                "publisher": names[row["publisher"]] if row["publisher"] >= 0 else "?",
                "event": row["event"],
                "wanted": len(wants),
                "delivered": sum(node in got for node in wants),
                "got": [
                    {"node": names[node], "delay": round(when - row["time"], 6)}
                    for node, when in list(got.items())[:MOST_RECEIVERS]
                ],
            }
        )
    return {
        "nodes": names,
        "published": len(publications),
        "delivered": len(facts["deliveries"]),
        "messages": len(facts["transmissions"]),
        "seconds": round(min(last, now - nodes[0].start), 1),
        "events": found,
    }


def write_live_replay(folder: str, last: float, target: str) -> int:
    """Write the replay of the `last` seconds to `target`; return its size [B]."""
    from roamcast.replay.recording import Recording
    from roamcast.replay.viewer import make_viewer

    facts = read_live(Path(folder), last)
    check_frames(facts, "the live nodes", "choose a shorter time")
    page = make_viewer([Recording(facts)], f"Live nodes, the last {last / 60:g} min").encode()
    Path(target).write_bytes(page)
    return len(page)
