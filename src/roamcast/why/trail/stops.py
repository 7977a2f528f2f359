"""Index of the places where the copies of one event stopped, by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES

if TYPE_CHECKING:
    from roamcast.why.trail.trail import TrailDrop, TrailTransmission


class StopIndex:
    """Transmissions and losses of one event by node; a scan of all of them for each lost delivery is
    quadratic."""

    def __init__(self, sent: Sequence[TrailTransmission], lost: Sequence[TrailDrop]) -> None:
        self.copies: dict[int, list[TrailTransmission]] = {}
        "Transmissions by sender."
        self.ended: dict[int, list[TrailDrop]] = {}
        "Drops by routers and queues, by node."
        self._failed: dict[int, list[tuple[int, TrailTransmission]]] = {}
        self._lost: dict[int, list[tuple[int, TrailDrop]]] = {}
        for place, copy in enumerate(sent):
            self.copies.setdefault(copy.node, []).append(copy)
            if copy.failed:
                self._failed.setdefault(copy.to, []).append((place, copy))
        for place, drop in enumerate(lost):
            if drop.cause in FRAME_LOSSES:
                self._lost.setdefault(drop.node, []).append((place, drop))
            if drop.cause in DROP_CAUSES:
                self.ended.setdefault(drop.node, []).append(drop)

    @property
    def receivers(self) -> set[int]:
        """Return the nodes that failed to receive a frame, or to which a transmission failed."""
        return {*self._lost, *self._failed}

    def frame_losses(self, nodes: Iterable[int]) -> Iterator[TrailDrop]:
        """Yield the frames that the nodes failed to receive, in order of the rows."""
        yield from (drop for _, drop in sorted(row for node in nodes for row in self._lost.get(node, ())))

    def failures(self, nodes: Iterable[int]) -> Iterator[TrailTransmission]:
        """Yield the transmissions to the nodes that failed, in order of the rows."""
        yield from (copy for _, copy in sorted(row for node in nodes for row in self._failed.get(node, ())))
