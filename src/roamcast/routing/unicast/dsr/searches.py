"""Timing of DSR route requests: neighbours first, then the whole network, with growing waits."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.router import Host, NodeId, Timer
from roamcast.routing.unicast.dsr.parameters import DsrParameters

TICK = 1e-6
"Timer tolerance [s]: a time within this distance counts as due."


class SearchState:
    """The state of the search for one target."""

    __slots__ = ("began", "count", "due", "everyone", "salvage", "timer")

    def __init__(self) -> None:
        self.began = -1e9
        "Start of the last round [s]."
        self.count = 0
        self.everyone = True
        "Whether this round has sent its network-wide request."
        self.salvage = False
        "Whether only messages of other nodes wait for the route."
        self.timer: Timer | None = None
        self.due: float | None = None
        "Time from which the next check of the buffer continues the search [s], with `buffer_check`."


class RouteSearches:
    """A node's searches by target, limited in number; the oldest is ended."""

    def __init__(
        self,
        host: Host,
        parameters: DsrParameters,
        request: Callable[[NodeId, int], None],
        waited_for: Callable[[NodeId], bool],
        abandon: Callable[[NodeId, int | None], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.rounds: dict[NodeId, SearchState] = {}
        self._request = request
        self._waited_for = waited_for
        self._abandon = abandon
        self._check: Timer | None = None
        self._check_at = 0.0
        "Time of the next check of the buffer [s]."

    def ask(self, target: NodeId, *, salvage: bool = False) -> None:
        """Start a search unless one is in progress; for salvage, ask only the neighbours, once."""
        search = self.rounds.get(target)
        if search is None:
            if len(self.rounds) >= self.parameters.targets:
                self._end(next(iter(self.rounds)))
            search = self.rounds[target] = SearchState()
            search.salvage = salvage
        search.salvage &= salvage
        if search.timer is None and search.due is None:
            if salvage and self.parameters.buffer_check:
                self._come_back(target, search, 0.0)
            else:
                self._go_on(target, search)

    def found(self, target: NodeId) -> None:
        """End a search after a reply; the next one starts without backoff."""
        search = self.rounds.pop(target, None)
        if search is not None and search.timer is not None:
            search.timer.cancel()

    def restart(self) -> None:
        """Start all searches anew that messages wait for, without backoff."""
        for target, search in list(self.rounds.items()):
            if search.timer is not None:
                search.timer.cancel()
            search.timer, search.due, search.count, search.began = None, None, 0, -1e9
            self._wake(target)

    def _go_on(self, target: NodeId, search: SearchState) -> None:
        p, now = self.parameters, self.host.now()
        next_round = search.began + self._wait(search.count)
        # The neighbours were asked long ago and no message waited for the rest of the round: start a new one.
        search.everyone |= now + TICK >= next_round
        if search.count and not search.everyone and not search.salvage:
            search.everyone = True
            self._request(target, p.hop_limit)
            self._come_back(target, search, next_round - now)
        elif search.count and now + TICK < next_round:
            self._come_back(target, search, next_round - now)
        elif search.salvage and search.count and p.keeps_backoff:
            # ns-2: the wait grows, one message is dropped, and the others keep waiting.
            search.began = now
            search.count += 1
            self._abandon(target, 1)
            self._come_back(target, search, self._wait(search.count))
        elif (search.salvage and search.count) or (p.max_requests and search.count >= p.max_requests):
            self._end(target)
        else:
            search.began = now
            search.count += 1
            first = p.nonpropagating and (search.count == 1 or p.neighbours_each_time)
            search.everyone = not first
            self._request(target, 1 if first else p.hop_limit)
            alone = first and not search.salvage
            self._come_back(target, search, p.nonpropagating_timeout if alone else self._wait(search.count))

    def _wait(self, count: int) -> float:
        """Return the time from the start of a round to the next [s]."""
        p = self.parameters
        rounds = count if p.neighbours_each_time else count - 1
        return min(p.request_period * float(p.request_backoff) ** min(rounds, 16), p.longest_wait)

    def _come_back(self, target: NodeId, search: SearchState, wait: float) -> None:
        wait = max(wait, 0.0)
        if self.parameters.buffer_check:
            search.due = self.host.now() + wait
            self._schedule_check(search.due)
        else:
            search.timer = self.host.call_later(wait, self._wake, target)

    def _schedule_check(self, due: float) -> None:
        """Schedule the check of the buffer that continues the searches due at `due` [s].

        In ns-2 one timer checks the whole buffer, so that a node sends the requests of all searches that are
        due within the same instant, and most of their receivers ignore all but the latest ids.
        """
        check = self.parameters.buffer_check
        if self._check is not None:
            if self._check_at <= due + 2 * check:
                return
            self._check.cancel()
        wait = due - self.host.now() + 1.5 * check * self.host.random.random()
        self._check_at = self.host.now() + wait
        self._check = self.host.call_later(wait, self._check_buffer)

    def _check_buffer(self) -> None:
        """Continue all searches that are due."""
        self._check = None
        now = self.host.now()
        for target, search in list(self.rounds.items()):
            if search.due is not None and search.due <= now:
                search.due = None
                self._wake(target)
        waiting = [search.due for search in self.rounds.values() if search.due is not None]
        if waiting:
            self._schedule_check(max(min(waiting), now + self.parameters.buffer_check))

    def _wake(self, target: NodeId) -> None:
        search = self.rounds.get(target)
        if search is None:
            return
        search.timer = None
        if self._waited_for(target):
            self._go_on(target, search)
        elif not self.parameters.keeps_backoff:
            del self.rounds[target]

    def _end(self, target: NodeId) -> None:
        self.found(target)
        self._abandon(target, None)
