"""Replay earlier frames, each with one number changed."""

from __future__ import annotations

from random import Random

from roamcast.testing.changes import change_number
from roamcast.testing.swarm.history import Replay
from roamcast.testing.swarm.record import SwarmRecord
from roamcast.testing.swarm.recording_mesh import RecordingMesh

LATEST = 30
"Number of latest frames of a kind from which a replay is chosen."
OTHER_SENDER = 0.3
"Share of the replays that get a random sender."


class Mutator:
    """Replays frames of the record; the number in each step determines the choice."""

    def __init__(self, record: SwarmRecord, mesh: RecordingMesh) -> None:
        self._record = record
        self._mesh = mesh

    def replay(self, step: Replay) -> None:
        """Inject an earlier frame with one number changed at a node; do nothing if there is no frame yet.

        The kind of message is drawn first, so that rare kinds are replayed as often as frequent ones.
        """
        kinds: dict[int, list[int]] = {}
        aired = self._record.transmissions
        for place, each in enumerate(aired):
            kinds.setdefault(each.message.number, []).append(place)
        if not kinds:
            return
        random = Random(step.choice)
        places = kinds[random.choice(sorted(kinds))]
        heard = aired[random.choice(places[-LATEST:])]
        nodes = range(self._record.history.nodes + 1)
        changed = change_number(heard.message, random, nodes)
        sender = random.choice(nodes) if random.random() < OTHER_SENDER else heard.node
        if changed is not None:
            self._mesh.inject(step.to, changed, sender)
            self._mesh.sample_tables()
