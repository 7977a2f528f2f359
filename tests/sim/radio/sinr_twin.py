"""The slow twin of SINR reception: the outcome of every broadcast at every node, by plain loops."""

import math
from itertools import pairwise
from typing import NamedTuple

from scipy.special import erfc

from ..twin import LIGHT

WORD = 2**64 - 1
SPECTRA = {
    "1/2": (1, range(10, 28, 2), (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    "2/3": (2, range(6, 16), (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    "3/4": (3, range(5, 15), (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
    "5/6": (
        *(5, range(4, 14)),
        (92, 528, 8694, 79453, 792114, 7375573, 67884974, 610875423, 5427275376, 47664215639),
    ),
}
RAW = {"BPSK": (0.5, 1), "QPSK": (0.5, 2), "16-QAM": (3 / 8, 10), "64-QAM": (7 / 24, 42)}


def bit_error_rate(scheme, snr):
    modulation, code = scheme.split()
    share, spread = RAW[modulation]
    raw = share * erfc(math.sqrt(snr / spread))
    d = math.sqrt(4 * raw * (1 - raw))
    bits, weights, wrong = SPECTRA[code]
    return min(1.0, sum(w * d**k for k, w in zip(weights, wrong, strict=True)) / (2 * bits))


def scramble(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def mix(a, b, c):
    first = scramble((a + 0x9E3779B97F4A7C15 * b) & WORD)
    return scramble(first ^ ((c * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019) & WORD))


class Signal(NamedTuple):
    start: int  # ps
    end: int  # ps
    power: float  # W
    frame: int


class Verdict(NamedTuple):
    outcome: str
    margin: float
    "How far the drawn number is from the probability of success: a table may err by a little."


def verdicts(sent, points, mean, sense, seed, *, mode, noise, preamble):
    """Return the verdict of each frame at each node that senses it, by (frame, node)."""
    found = {}
    for node, there in enumerate(points):
        own = [(s.start, s.start + s.airtime) for s in sent if s.node == node]
        signals = []
        for number, s in enumerate(sent):
            power = mean(math.dist(points[s.node], there)) if s.node != node else 0.0
            if s.node != node and power >= sense:
                start = s.start + math.ceil(math.dist(points[s.node], there) / LIGHT * 1e12)
                signals.append(Signal(start, start + s.airtime, power, number))
        signals.sort()
        busy_until = 0
        for signal in signals:
            key = signal.frame, node
            if signal.power < noise * preamble:
                found[key] = Verdict("weak", 1)
                continue
            others = [o for o in signals if o is not signal]
            at_start = sum(o.power for o in others if o.start < signal.start < o.end)
            if any(begin <= signal.start < end for begin, end in own):
                found[key] = Verdict("deaf", 1)
            elif signal.start < busy_until:
                found[key] = Verdict("captured", 1)
            elif signal.power < preamble * (noise + at_start):
                found[key] = Verdict("collided", 1)
            else:
                busy_until = signal.end
                if any(signal.start < begin <= signal.end for begin, _ in own):
                    found[key] = Verdict("deaf", 1)
                else:
                    found[key] = _decode(sent[signal.frame], signal, others, node, seed, mode, noise)
    return found


def _decode(frame, signal, others, node, seed, mode, noise):
    payload = signal.start + round(mode.preamble * 1e12)
    edges = {payload, signal.end}
    edges |= {t for o in others for t in (o.start, o.end) if payload < t < signal.end}
    times = sorted(edges)
    success = 1.0
    for begin, end in pairwise(times):
        interference = sum(o.power for o in others if o.start <= begin < o.end)
        ratio = signal.power / (noise + interference)
        bits = (end - begin) * 1e-12 * mode.rate
        success *= (1 - min(0.999, bit_error_rate(mode.scheme, ratio))) ** bits
    drawn = (mix(seed ^ 5, mix(frame.node, frame.start, 0), node) >> 11) / 2**53
    if drawn < success:
        return Verdict("received", success - drawn if success < 1 - 1e-9 else 1)
    interfered = any(o.start < signal.end and signal.start < o.end for o in others)
    return Verdict("collided" if interfered else "bit_errors", drawn - success)
