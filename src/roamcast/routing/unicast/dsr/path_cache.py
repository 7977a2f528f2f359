"""Ways that a node knows, each from itself on; as ns-2 keeps them.

Those that were asked for or are used have a shelf of their own, so that what is overheard does not push them
out. The shortest way wins, among equals the one that has been there longest.
"""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import NodeId


class PathList:
    """Some ways; a full shelf lets them go in turn."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.paths: list[tuple[NodeId, ...]] = []
        self.times: list[float] = []
        "When each was heard of last."
        self._hops: list[NodeId] = []
        "The first hop of each: what begins otherwise need not be compared."
        self._victim = 0

    def add(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Keep a way of two nodes or more; false if it is known as part of another."""
        paths, hops, length = self.paths, self._hops, len(path)
        hop, place = path[1], -1
        for _ in range(hops.count(hop)):
            place = hops.index(hop, place + 1)
            known = paths[place]
            if known == path[: len(known)]:
                changed = len(known) < length
                paths[place], self.times[place] = path, now
                return changed
            if known[:length] == path:
                self.times[place] = now
                return False
        if len(paths) < self.limit:
            paths.append(path)
            hops.append(hop)
            self.times.append(now)
        else:
            paths[self._victim], hops[self._victim], self.times[self._victim] = path, hop, now
            self._victim = (self._victim + 1) % self.limit
        return True

    def find(self, destination: NodeId) -> tuple[NodeId, ...] | None:
        """The shortest way to a destination."""
        best: tuple[NodeId, ...] | None = None
        for path in self.paths:
            if destination in path:
                length = path.index(destination) + 1
                if best is None or length < len(best):
                    best = path[:length]
        return best

    def cut(self, start: NodeId, end: NodeId) -> bool:
        """Shorten the ways that lead over a link to what comes before it."""
        changed = False
        for place, path in enumerate(self.paths):
            if start in path and end in path:
                at = path.index(start)
                if path[at + 1 : at + 2] == (end,):
                    self.paths[place] = path[: at + 1]
                    changed = True
        if changed:
            self._compact(lambda path, _: len(path) > 1)
        return changed

    def remove(self, path: tuple[NodeId, ...]) -> None:
        """Give a way away."""
        place = self.paths.index(path)
        del self.paths[place], self.times[place], self._hops[place]

    def lapse(self, before: float) -> bool:
        """Let go the ways not heard of since `before`."""
        return self._compact(lambda _, time: time > before)

    def _compact(self, keep: Callable[[tuple[NodeId, ...], float], bool]) -> bool:
        kept = [pair for pair in zip(self.paths, self.times, strict=True) if keep(*pair)]
        changed = len(kept) < len(self.paths)
        self.paths = [path for path, _ in kept]
        self.times = [time for _, time in kept]
        self._hops = [path[1] for path in self.paths]
        return changed


class PathCache:
    """The ways that a node knows."""

    def __init__(self, node: NodeId, primary: int, secondary: int, timeout: float) -> None:
        self.node = node
        self.primary = PathList(primary)
        self.secondary = PathList(secondary)
        self._timeout = timeout
        self._swept = 0.0
        # What was found, and what was told, since something changed: most questions are asked again.
        self._answers: dict[NodeId, tuple[NodeId, ...] | None] = {}
        self._told: set[tuple[NodeId, ...]] = set()

    def __len__(self) -> int:
        return len(self.primary.paths) + len(self.secondary.paths)

    def bytes(self) -> int:
        """What is kept, as it would be sent."""
        return 4 * sum(map(len, self.primary.paths)) + 4 * sum(map(len, self.secondary.paths))

    def add(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Keep a way that was asked for; it begins here and does not meet itself."""
        return self._add(self.primary, path, now)

    def notice(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Keep a way that was overheard."""
        if path in self._told:
            return False
        changed = self._add(self.secondary, path, now)
        self._told.add(path)
        return changed

    def find(self, destination: NodeId, now: float) -> tuple[NodeId, ...] | None:
        """The shortest way to a destination, from here to there."""
        if now - self._swept > self._timeout / 16:
            self._sweep(now)
        if destination in self._answers:
            return self._answers[destination]
        first, second = self.primary.find(destination), self.secondary.find(destination)
        if first is None or (second is not None and len(second) < len(first)):
            first = second
        self._answers[destination] = first
        return first

    def use(self, destination: NodeId, now: float) -> tuple[NodeId, ...] | None:
        """The same, to be gone: a way that was only overheard moves to the others."""
        path = self.find(destination, now)
        if path is not None and self.primary.find(destination) != path:
            whole = next(p for p in self.secondary.paths if p[: len(path)] == path)
            self.secondary.remove(whole)
            self._add(self.primary, whole, now)
            self._answers[destination] = path
        return path

    def cut(self, start: NodeId, end: NodeId) -> bool:
        """Give up a link; true if a way led over it."""
        changed = self.primary.cut(start, end)
        changed |= self.secondary.cut(start, end)
        if changed:
            self._forget_answers()
        return changed

    def paths(self) -> list[tuple[NodeId, ...]]:
        """All that is known."""
        return self.primary.paths + self.secondary.paths

    def _add(self, shelf: PathList, path: tuple[NodeId, ...], now: float) -> bool:
        if len(path) < 2 or path[0] != self.node or len(set(path)) < len(path):
            return False
        changed = shelf.add(path, now)
        if changed:
            self._forget_answers()
        return changed

    def _sweep(self, now: float) -> None:
        self._swept = now
        changed = self.primary.lapse(now - self._timeout)
        if self.secondary.lapse(now - self._timeout) or changed:
            self._forget_answers()

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._told.clear()
