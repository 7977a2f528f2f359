"""The route cache of DSR, as in ns-2: routes that start at this node.

Requested and used routes have a separate cache, so that overheard ones do not evict them. The shortest route
is used; among equals, the oldest.
"""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import NodeId


class PathList:
    """A list of routes; a full list evicts them in turn."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.paths: list[tuple[NodeId, ...]] = []
        self.times: list[float] = []
        "Time at which each route was last seen [s]."
        self._hops: list[NodeId] = []
        "First hop of each route, for quick comparison."
        self._victim = 0

    def add(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Add a route of at least two nodes; return False if another one contains it."""
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
        """Return the shortest route to a destination."""
        best: tuple[NodeId, ...] | None = None
        for path in self.paths:
            if destination in path:
                length = path.index(destination) + 1
                if best is None or length < len(best):
                    best = path[:length]
        return best

    def cut(self, start: NodeId, end: NodeId) -> bool:
        """Truncate the routes over a link before that link; return whether there were any."""
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
        """Remove a route."""
        place = self.paths.index(path)
        del self.paths[place], self.times[place], self._hops[place]

    def lapse(self, before: float) -> bool:
        """Remove the routes not seen since `before` [s]; return whether there were any."""
        return self._compact(lambda _, time: time > before)

    def _compact(self, keep: Callable[[tuple[NodeId, ...], float], bool]) -> bool:
        kept = [pair for pair in zip(self.paths, self.times, strict=True) if keep(*pair)]
        changed = len(kept) < len(self.paths)
        self.paths = [path for path, _ in kept]
        self.times = [time for _, time in kept]
        self._hops = [path[1] for path in self.paths]
        return changed


class PathCache:
    """The primary and the secondary route cache of a node."""

    def __init__(self, node: NodeId, primary: int, secondary: int, timeout: float) -> None:
        self.node = node
        self.primary = PathList(primary)
        self.secondary = PathList(secondary)
        self._timeout = timeout
        self._swept = 0.0
        # Results since the last change, since most queries are repeated.
        self._answers: dict[NodeId, tuple[NodeId, ...] | None] = {}
        self._noticed: set[tuple[NodeId, ...]] = set()

    def __len__(self) -> int:
        return len(self.primary.paths) + len(self.secondary.paths)

    def bytes(self) -> int:
        """Return the size of the routes as sent [B]."""
        return 4 * sum(map(len, self.primary.paths)) + 4 * sum(map(len, self.secondary.paths))

    def add(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Add a requested route, which starts at this node and has no loop."""
        return self._add(self.primary, path, now)

    def notice(self, path: tuple[NodeId, ...], now: float) -> bool:
        """Add an overheard route."""
        if path in self._noticed:
            return False
        changed = self._add(self.secondary, path, now)
        self._noticed.add(path)
        return changed

    def find(self, destination: NodeId, now: float) -> tuple[NodeId, ...] | None:
        """Return the shortest route to a destination, including both ends."""
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
        """Return the shortest route for use; an overheard one moves to the primary cache."""
        path = self.find(destination, now)
        if path is not None and self.primary.find(destination) != path:
            whole = next(p for p in self.secondary.paths if p[: len(path)] == path)
            self.secondary.remove(whole)
            self._add(self.primary, whole, now)
            self._answers[destination] = path
        return path

    def cut(self, start: NodeId, end: NodeId) -> bool:
        """Remove a link; return whether a route contained it."""
        changed = self.primary.cut(start, end)
        changed |= self.secondary.cut(start, end)
        if changed:
            self._forget_answers()
        return changed

    def paths(self) -> list[tuple[NodeId, ...]]:
        """Return all cached routes."""
        return self.primary.paths + self.secondary.paths

    def _add(self, cached: PathList, path: tuple[NodeId, ...], now: float) -> bool:
        if len(path) < 2 or path[0] != self.node or len(set(path)) < len(path):
            return False
        changed = cached.add(path, now)
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
        self._noticed.clear()
