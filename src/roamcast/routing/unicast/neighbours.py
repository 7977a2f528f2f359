"""The neighbours of a node: who was heard lately, who has gone silent, and what each said last."""

from __future__ import annotations

from collections.abc import Callable, Collection

from roamcast.routing.router import Host, NodeId
from roamcast.routing.unicast.parameters import DsdvParameters
from roamcast.routing.unicast.table import INFINITY
from roamcast.routing.unicast.update import DsdvUpdate


class Neighbours:
    """Who has spoken; whoever stays silent too long is handed to `lose`."""

    def __init__(self, host: Host, parameters: DsdvParameters, lose: Callable[[NodeId], None]) -> None:
        self.heard: dict[NodeId, float] = {}
        "When each neighbour must have spoken again, the soonest first."
        self._told: dict[NodeId, DsdvUpdate] = {}
        "The last full update of each neighbour."
        self._host = host
        self._period = parameters.period
        self._silence = parameters.missed_periods * parameters.period
        self._limit = parameters.destinations
        self._lose = lose
        self._watching = False

    def hear(self, sender: NodeId, update: DsdvUpdate, now: float) -> None:
        """Note that a neighbour lives, and see to it that its silence will be noticed."""
        if update.entries and update.entries[0][0] == sender:
            # Only a full update begins with the speaker itself.
            self._told[sender] = update
        self.heard.pop(sender, None)
        self.heard[sender] = now + self._silence
        if len(self.heard) > self._limit:
            self._lose(next(iter(self.heard)))
        if not self._watching:
            self._watch()

    def forget(self, neighbour: NodeId) -> None:
        """Forget a neighbour that is lost."""
        self.heard.pop(neighbour, None)
        self._told.pop(neighbour, None)

    def detour(self, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """The neighbour, heard lately and none of `avoid`, that told of the shortest way to `destination`.

        One that has not spoken of it comes last: nobody tells of a route that has not settled.
        """
        # Deadlines lie one silence ahead of the last word.
        recent = self._host.now() + self._silence - self._period
        ways = []
        for neighbour, deadline in self.heard.items():
            if deadline < recent or neighbour in avoid:
                continue
            if neighbour == destination:
                return neighbour
            metric = self._told_metric(neighbour, destination)
            if 0 <= metric < INFINITY:
                ways.append((metric, neighbour))
        return min(ways)[1] if ways else None

    def _told_metric(self, neighbour: NodeId, destination: NodeId) -> int:
        """How far from `destination` a neighbour was by its last full update."""
        if neighbour in self._told:
            for known, metric, _ in self._told[neighbour].entries:
                if known == destination:
                    return metric
        return INFINITY - 1

    def _watch(self) -> None:
        """Come back when the neighbour that has been silent longest should have spoken."""
        self._watching = bool(self.heard)
        if self._watching:
            deadline = next(iter(self.heard.values()))
            self._host.call_later(max(deadline - self._host.now(), 0.0), self._check)

    def _check(self) -> None:
        """Give up the neighbours that have not spoken in time."""
        now = self._host.now()
        for neighbour in [n for n, deadline in self.heard.items() if deadline <= now + 1e-9]:
            self._lose(neighbour)
        self._watch()
