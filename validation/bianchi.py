"""The saturated 802.11 cell by analysis: Bianchi's mean field, carried out for ns-2's rules.

Bianchi (2000) follows one station through its backoff and lets the others act independently of it. His closed
formula rests on four simplifications that ns-2's DCF (and so our kernel) does not make:

1. *Frozen slots.* In the textbook chain a busy period counts as one backoff slot. Here a counter stands still
   while the medium is busy: a draw of w means w *idle* slots. Whoever did not transmit has at least one slot
   left, so the slot right after a busy period belongs to those that have just transmitted and drew 0.
2. *Window.* The draw is uniform over 0..CW-1 with CW = 31, 63, ..., 1023.
3. *Finite retry.* A unicast frame is sent at most 7 times (the short limit; it holds for RTS, and for data
   sent without RTS), then dropped, and the window starts again at 31. Broadcast never retries and always
   draws from 31.
4. *After a collision* everyone waits EIFS and then DIFS (ns-2 keeps EIFS as a NAV, after which the usual DIFS
   follows). That is true of those that collided too: the other frame reaches them a little after their own
   has left, so its end is heard as an undecodable frame. EIFS outlasts the ACK and the CTS timeout (318 µs),
   so the timeouts do not show. After a success everyone waits DIFS.

So after every busy period all stations start counting together, and the cell is a Markov chain whose step is
one busy period. Its state is m, the number of stations that transmitted (1: success, more: collision), with
the distribution over retry stages of one of those m, and that over (stage, slots left) of one of the others.
The mean-field assumption is that stations are independent given m. Then
  P(the next transmission comes after s idle slots, from a of the m and b of the n-m)
is a product of two binomials, from which follow the next m, what each station has left, and the
means of idle slots and of busy time. The chain is iterated until it stands still. Throughput is
successes a step over time a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SLOT, SIFS, DIFS = 20e-6, 10e-6, 50e-6
PREAMBLE = 192e-6
RTS, CTS, ACK = 352e-6, 304e-6, 304e-6
EIFS = SIFS + DIFS + ACK
MAC_HEADER = 34
"Bytes of a data frame beside the packet: 30 of header, 4 of checksum."
NETWORK_HEADER = 20
CW_MIN, CW_MAX = 31, 1023
SHORT_RETRY = 7
SETTLED = 1e-5
"The chain stands still when a step moves less probability than this."


@dataclass(frozen=True)
class Access:
    """How the stations of a cell send: how long the air is busy, and how the window grows."""

    windows: tuple[int, ...]
    "Contention window of each attempt at one frame."
    success: float
    "Seconds from the start of a transmission that succeeds to the start of the next countdown."
    collision: float
    "The same for a collision."


@dataclass(frozen=True)
class Saturation:
    """What a saturated cell does."""

    per_second: float
    "Frames that got through, by all stations together."
    collided: float
    "Share of transmissions that collide."
    idle_slots: float
    "Mean idle slots before a transmission."


def airtime(payload: int, rate: float) -> float:
    """Seconds on the air of a data frame with `payload` bytes above the network header."""
    return PREAMBLE + 8 * (payload + NETWORK_HEADER + MAC_HEADER) / rate


def retry_windows() -> tuple[int, ...]:
    """The windows of the attempts at one unicast frame."""
    windows = [CW_MIN]
    while len(windows) < SHORT_RETRY:
        windows.append(min(2 * windows[-1] + 1, CW_MAX))
    return tuple(windows)


def broadcast(payload: int, basic_rate: float = 1e6) -> Access:
    """Broadcast: one attempt, no acknowledgement."""
    air = airtime(payload, basic_rate)
    return Access((CW_MIN,), air + DIFS, air + EIFS + DIFS)


def unicast(payload: int, data_rate: float = 2e6, *, rts: bool) -> Access:
    """Acknowledged unicast, with or without RTS and CTS before it."""
    air = airtime(payload, data_rate)
    if rts:
        return Access(retry_windows(), RTS + CTS + air + ACK + 3 * SIFS + DIFS, RTS + EIFS + DIFS)
    return Access(retry_windows(), air + SIFS + ACK + DIFS, air + EIFS + DIFS)


def saturate(stations: int, access: Access) -> Saturation:
    """Solve the cell of `stations` that always have a frame to send."""
    if stations < 2:
        wait = (access.windows[0] - 1) / 2
        return Saturation(1 / (wait * SLOT + access.success), 0.0, wait)
    good, sent, idle = _solve(stations, access.windows)
    step = idle * SLOT + good * access.success + (1 - good) * access.collision
    return Saturation(good / step, 1 - good / sent, idle)


@lru_cache
def _solve(stations: int, windows: tuple[int, ...]) -> tuple[float, float, float]:
    """Share of busy periods that are successes, transmitters and idle slots per busy period."""
    chain = _Chain(stations, windows)
    for _ in range(6):
        # Long backoffs take thousands of steps to spread: start them where they should end.
        for _ in range(15):
            chain.step()
        chain.left = chain.guess(chain.collided)
    for _ in range(150):
        if chain.step() < SETTLED:
            break
    return float(chain.share[1]), chain.sent, chain.idle


class _Chain:
    """The cell after a busy period, for each number m of stations that transmitted in it."""

    def __init__(self, stations: int, windows: tuple[int, ...]) -> None:
        self.n = stations
        self.windows = windows
        self.stages = len(windows)
        self.depth = max(windows)
        self.most = min(stations, 24)
        self.draws = np.zeros((self.stages, self.depth))
        for stage, window in enumerate(windows):
            self.draws[stage, :window] = 1 / window
        self.share = np.zeros(self.most + 1)
        "Of busy periods, those with m transmitters."
        self.share[1] = 1.0
        self.fresh = np.zeros((self.most + 1, self.stages))
        "For each m, the stage that one of the transmitters goes on with."
        self.fresh[:, 0] = 1.0
        self.left = self.guess(0.3)
        "Stage and slots left of one that did not transmit."
        self.idle = 0.0

    def guess(self, collided: float) -> Vector:
        """Where one that waits stands, roughly, if this share of attempts collides."""
        left = np.zeros((self.stages, self.depth))
        for stage, window in enumerate(self.windows):
            left[stage, 1:window] = collided**stage * (window - np.arange(1, window)) / window
        return left / left.sum()

    def step(self) -> float:
        """Let one busy period follow another; how much the chain still moved."""
        share = np.zeros_like(self.share)
        fresh = np.zeros_like(self.fresh)
        left = np.zeros_like(self.left)
        self.idle = 0.0
        for m in np.nonzero(self.share > 1e-9)[0]:
            self._follow(int(m), share, fresh, left)
        sent = fresh.sum(1, keepdims=True)
        self.fresh = np.where(sent > 0, fresh / np.where(sent > 0, sent, 1), self.fresh)
        moved = float(np.abs(left / left.sum() - self.left).sum())
        self.share = share / share.sum()
        self.left = left / left.sum()
        return moved

    def _follow(self, m: int, share: Vector, fresh: Vector, left: Vector) -> None:
        """Add what follows a busy period of m transmitters."""
        others = self.n - m
        drawn = self.fresh[m][:, None] * self.draws
        # One of each kind: is it due after this many slots, or later?
        now_f, now_w = drawn.sum(0), self.left.sum(0)
        later_f = np.clip(1 - np.cumsum(now_f), 0, 1)
        later_w = np.clip(1 - np.cumsum(now_w), 0, 1)
        for slot in range(self.depth):
            if slot and later_f[slot - 1] ** m * later_w[slot - 1] ** others < 1e-9:
                break
            by_fresh = _binomial(m, now_f[slot], later_f[slot], self.most)
            by_others = _binomial(others, now_w[slot], later_w[slot], self.most)
            joint = np.outer(by_fresh, by_others) * self.share[m]
            joint[0, 0] = 0.0
            a, b = np.indices(joint.shape)
            total = np.minimum(a + b, self.most).ravel()
            size = self.most + 1
            share += np.bincount(total, joint.ravel(), minlength=size)
            self.idle += slot * joint.sum()
            self._advance(fresh, np.bincount(total, (joint * a).ravel(), minlength=size), drawn[:, slot])
            self._advance(fresh, np.bincount(total, (joint * b).ravel(), minlength=size), self.left[:, slot])
            if later_f[slot] > 1e-12:
                rest = (joint * (m - a)).sum() / later_f[slot]
                left[:, 1 : self.depth - slot] += rest * drawn[:, slot + 1 :]
            if later_w[slot] > 1e-12:
                rest = (joint * (others - b)).sum() / later_w[slot]
                left[:, 1 : self.depth - slot] += rest * self.left[:, slot + 1 :]

    def _advance(self, fresh: Vector, transmitters: Vector, stages: Vector) -> None:
        """Move transmitters to their next stage: the first after a success or the last retry."""
        if stages.sum() == 0:
            return
        by_stage = np.outer(transmitters, stages / stages.sum())
        fresh[1, 0] += by_stage[1].sum()
        fresh[2:] += np.roll(by_stage[2:], 1, axis=1)

    @property
    def sent(self) -> float:
        """Transmitters per busy period."""
        return float((self.share * np.arange(self.most + 1)).sum())

    @property
    def collided(self) -> float:
        """Share of transmissions that collide."""
        return 1 - float(self.share[1]) / self.sent


def _binomial(trials: int, now: float, after: float, most: int) -> Vector:
    """P(k of `trials` are due now and the rest later), k = 0, 1, ..."""
    top = min(trials, most)
    terms = np.zeros(top + 1)
    term = after**trials
    if after > 0:
        for k in range(top + 1):
            terms[k] = term
            term *= now / after * (trials - k) / (k + 1)
    elif trials <= top:
        terms[trials] = now**trials
    return terms


def frames_per_second(stations: int, access: Access) -> float:
    """Frames a second that get through in a saturated cell."""
    return saturate(stations, access).per_second
