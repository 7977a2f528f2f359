"""The slow twin of the kernel: plain loops that say what becomes of every frame at every node."""

import math
from typing import NamedTuple

LIGHT = 3e8
POWER, FREQUENCY, HEIGHT = 0.28183815, 914e6, 1.5
RANGE, SENSE = 250.0, 550.0

RADIO = {
    "propagation": "two-ray",
    "power": POWER,
    "frequency": FREQUENCY,
    "antenna_height": HEIGHT,
    "range": RANGE,
    "carrier_sense": SENSE,
    "capture": 10.0,
}
MAC = {
    "rate": 2e6,
    "basic_rate": 1e6,
    "slot": 20e-6,
    "sifs": 10e-6,
    "difs": 50e-6,
    "cw_min": 31,
    "cw_max": 1023,
    "short_retry": 7,
    "long_retry": 4,
    "rts_threshold": 0,
    "queue": 50,
    "network_header": 20,
    "link_delay": 25e-6,
    "priority": 4,
    "newest_first": False,
    "queue_per_class": False,
    "arp": False,
}


def received_power(distance):
    wave = LIGHT / FREQUENCY
    if distance < 4 * math.pi * HEIGHT * HEIGHT / wave:
        return POWER * min(1.0, (wave / (4 * math.pi * max(distance, 1e-9))) ** 2)
    return POWER * HEIGHT**4 / distance**4


class Sent(NamedTuple):
    start: int  # ps
    airtime: int  # ps
    node: int


class Outcome(NamedTuple):
    sender: int
    sent_at: int
    node: int
    outcome: str
    power: float
    arrives: int


class Off(NamedTuple):
    start: int  # ps
    end: int  # ps
    node: int


def outcomes(sent, position, nodes, capture=10.0, off=()):
    """What becomes of each broadcast at each node that senses it; `position(node, ps)` tells places.

    Radios are switched off as `off` says: a frame cut in the middle is heard to its end, and not understood.
    """
    own = [(o.node, o.start, o.end) for o in off]
    cut = set()
    for number, frame in enumerate(sent):
        end = frame.start + frame.airtime
        for o in off:
            if o.node == frame.node and frame.start < o.start < end:
                end = o.start
                cut.add(number)
        own.append((frame.node, frame.start, end))
    signals = []
    for number, frame in enumerate(sent):
        here = position(frame.node, frame.start)
        for node in range(nodes):
            there = position(node, frame.start)
            distance = math.dist(here, there)
            if node != frame.node and distance <= SENSE:
                start = frame.start + math.ceil(distance / LIGHT * 1e12)
                signals.append((start, number, node, distance))
    results = {}
    busy = {}  # node -> [signal number, power, end, collided, deaf]
    steps = []
    for start, number, node, distance in signals:
        steps.append((start, 1, number, node, distance))
        steps.append((start + sent[number].airtime, 0, number, node, distance))

    def sending(node, now):
        return any(who == node and start <= now < end for who, start, end in own)

    def overlaps_own(node, start, end):
        return any(who == node and begins < end and start < ends for who, begins, ends in own)

    def record(number, node, outcome):
        assert (number, node) not in results
        began = sent[number].start
        switched = any(o.node == node and o.start <= now and began < o.end for o in off)
        if (outcome == "deaf" and switched) or (outcome == "received" and number in cut):
            outcome = "radio_off"
        results[number, node] = outcome

    for now, begins, number, node, distance in sorted(steps):
        power = received_power(distance)
        weak = distance > RANGE
        if begins:
            if node not in busy:
                busy[node] = [number, power, now + sent[number].airtime, False, now]
                continue
            held, held_power, held_end, _, held_start = busy[node]
            end = now + sent[number].airtime
            deaf = sending(node, now)
            if held_power >= capture * power:
                record(number, node, "weak" if weak else "deaf" if deaf else "captured")
            elif end > held_end:
                then = sent[held].start
                held_weak = math.dist(position(sent[held].node, then), position(node, then))
                lost = "deaf" if overlaps_own(node, held_start, now) else "collided"
                record(held, node, "weak" if held_weak > RANGE else lost)
                busy[node] = [number, power, end, True, now]
            else:
                busy[node][3] = True
                record(number, node, "weak" if weak else "deaf" if deaf else "collided")
        elif node in busy and busy[node][0] == number:
            _, _, end, collided, start = busy.pop(node)
            if weak:
                record(number, node, "weak")
            elif overlaps_own(node, start, end):
                record(number, node, "deaf")
            else:
                record(number, node, "collided" if collided else "received")
    powers = {(number, node): (received_power(d), start) for start, number, node, d in signals}
    return [
        Outcome(sent[number].node, sent[number].start, node, outcome, *powers[number, node])
        for (number, node), outcome in sorted(results.items())
    ]
