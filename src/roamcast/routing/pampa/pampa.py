"""PAMPA as a component of a router: a node that receives a new message waits, and repeats it unless enough
copies arrive.

The router supplies the key of a flood (an integer) and the message to repeat. PAMPA decides whether and when
to repeat: the delay depends on the received signal, and enough copies received meanwhile cancel it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from typing import Generic, TypeVar

from roamcast.routing.pampa.delay import delay_function
from roamcast.routing.pampa.distance import estimator
from roamcast.routing.pampa.parameters import PampaParameters
from roamcast.routing.router import Drop, Footprint, Host, Timer
from roamcast.routing.state.seen import Seen

T = TypeVar("T")


class _Wait(Generic[T]):
    __slots__ = ("copies", "flooded", "timer")

    def __init__(self, flooded: T, copies: int) -> None:
        self.flooded = flooded
        self.copies = copies
        "Number of further copies that suppress the repetition."
        self.timer: Timer


class Pampa(Generic[T]):
    """One node's part in floods of one kind; calls `repeat` to send, or `drop` with a drop reason."""

    def __init__(
        self,
        host: Host,
        parameters: PampaParameters,
        repeat: Callable[[T], object],
        drop: Callable[[T, Drop], object],
        scale: Callable[[], float] | None = None,
    ) -> None:
        """Multiply all delays by `scale()`, if given."""
        self.done = Seen(parameters.flood_limit)
        "Keys of floods that this node has started, repeated or dropped; a router may use it as `handled`."
        self._host = host
        self._repeat = repeat
        self._drop = drop
        self._scale = scale
        self._copies = parameters.copies - parameters.count_first
        self._estimate = estimator(parameters.distance, host)
        self._delay = delay_function(parameters)
        self._range = parameters.range if parameters.clamp else inf
        self._longest = parameters.max_delay
        self._jitter = parameters.jitter
        self._remember = parameters.flood_limit
        self._capacity = parameters.pending_limit
        self._waiting: dict[int, _Wait[T]] = {}

    def begin(self, key: int) -> bool:
        """Record a flood that starts here; return False if this node already takes part in it."""
        return key not in self._waiting and self.done.add(key)

    def record_copy(self, key: int) -> bool:
        """Return whether the flood is known here; if it is pending, count the copy, which may suppress the
        repetition."""
        wait = self._waiting.get(key)
        if wait is None:
            return key in self.done
        wait.copies -= 1
        if wait.copies <= 0:
            wait.timer.cancel()
            self._end(key, wait, Drop.SUPPRESSED)
        return True

    def wait(self, key: int, signal: float, flooded: T) -> None:
        """Schedule the repetition of a new flood; a full table drops the oldest pending one."""
        waiting = self._waiting
        if len(waiting) >= self._capacity:
            oldest = next(iter(waiting))
            waiting[oldest].timer.cancel()
            self._end(oldest, waiting[oldest], Drop.TABLE_FULL)
        waiting[key] = wait = _Wait(flooded, self._copies)
        wait.timer = self._host.call_later(self.delay(signal), self._send, key)

    def delay(self, signal: float) -> float:
        """Return the delay [s] after a copy received at `signal` watts; the maximum if the distance is
        unknown."""
        distance = self._estimate(signal)
        longest = self._longest
        seconds = longest if isnan(distance) else self._delay(min(distance, self._range), signal)
        if seconds >= longest:
            seconds = longest + self._jitter * self._host.random.random()
        return seconds if self._scale is None else seconds * self._scale()

    def footprints(self) -> dict[str, Footprint]:
        """Return the size of each table."""
        done, waiting = len(self.done), len(self._waiting)
        return {
            "floods_done": Footprint(done, 8 * done, self._remember),
            "floods_waiting": Footprint(waiting, 16 * waiting, self._capacity),
        }

    def _send(self, key: int) -> None:
        wait = self._waiting.pop(key)
        self.done.add(key)
        self._repeat(wait.flooded)

    def _end(self, key: int, wait: _Wait[T], reason: Drop) -> None:
        del self._waiting[key]
        self.done.add(key)
        self._drop(wait.flooded, reason)
