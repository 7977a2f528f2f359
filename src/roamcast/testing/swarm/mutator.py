"""A participant that repeats frames it has heard, each with one number changed."""

from __future__ import annotations

from random import Random

from roamcast.testing.changes import change_number
from roamcast.testing.swarm.history import Replay
from roamcast.testing.swarm.record import SwarmRecord
from roamcast.testing.swarm.recording_mesh import RecordingMesh

LATEST = 30
"Frames of a kind that it remembers."
OTHER_SENDER = 0.3
"Share of the frames that it sends in the name of another node than the one it heard."


class Mutator:
    """Repeats what was sent so far; it hears every frame and chooses by the number in each step."""

    def __init__(self, record: SwarmRecord, mesh: RecordingMesh) -> None:
        self._record = record
        self._mesh = mesh

    def replay(self, step: Replay) -> None:
        """Have a node hear an earlier frame with one number changed; nothing, if there was no frame yet.

        The kind of message is drawn first, so that rare messages are repeated as often as frequent ones.
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
