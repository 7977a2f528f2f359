"""The worlds of the comparisons: who walks where, and what is said when."""

from __future__ import annotations

from random import Random

from roamcast.scenario.model import Scenario
from validation.ns2 import Send

SHOP = 0
"The node in the corner of the district."


def district(seconds: float, speed: tuple[float, float] = (0.1, 1), pause: float = 60) -> Scenario:
    """The shopping district: a shop in the corner and fifty walkers."""
    return Scenario.model_validate(
        {
            "name": "district",
            "area": {"width": 1000, "height": 500},
            "duration": seconds,
            "nodes": {
                "shop": {"count": 1, "at": [(0, 0)]},
                "walkers": {"count": 50, "mobility": "waypoint", "speed": speed, "pause": pause},
            },
        }
    )


def driving(seconds: float) -> Scenario:
    """The district at 1 to 20 m/s, without pauses."""
    return district(seconds, (1, 20), 0)


def field(seconds: float, nodes: int = 200, density: float = 140.0) -> Scenario:
    """An open field with so many walkers on a square kilometre."""
    side = 1000 * (nodes / density) ** 0.5
    walkers = {"count": nodes, "mobility": "waypoint", "speed": (0.1, 3), "pause": 200}
    return Scenario.model_validate(
        {
            "name": "field",
            "area": {"width": side, "height": side},
            "duration": seconds,
            "nodes": {"walkers": walkers},
        }
    )


ENDS = 5
"Nodes at rest at each end of the corridor."


def corridor(seconds: float) -> Scenario:
    """A strip of 2000 x 300 m: five nodes at rest at each end, and 70 between them at 15 m/s."""
    rests = [60 * place for place in range(ENDS)]
    return Scenario.model_validate(
        {
            "name": "corridor",
            "area": {"width": 2000, "height": 300},
            "duration": seconds,
            "nodes": {
                "west": {"count": ENDS, "at": [(0, y) for y in rests]},
                "east": {"count": ENDS, "at": [(2000, y) for y in rests]},
                "between": {"count": 70, "mobility": "waypoint", "speed": (14, 16), "pause": 0},
            },
        }
    )


def end_to_end(seconds: float, seed: int, flows: int = 5, rate: float = 1.0) -> list[Send]:
    """Flows of `rate` packets a second from one end of the corridor to the other, in both directions."""
    random = Random(f"{seed}/end-to-end")
    sends = []
    for flow in range(flows):
        west, east = random.randrange(ENDS), ENDS + random.randrange(ENDS)
        sender, receiver = (west, east) if flow % 2 == 0 else (east, west)
        begin = 5 + random.random() / rate
        times = [begin + turn / rate for turn in range(int((seconds - begin - 5) * rate))]
        sends += [Send(round(time, 9), sender, 512, (receiver,)) for time in times]
    return sorted(sends, key=lambda send: send.time)


def ten_copies(seconds: float, seed: int, nodes: int = 200) -> list[Send]:
    """Ten publish every two seconds on average, each time a copy to each of ten receivers."""
    random = Random(f"{seed}/ten-copies")
    chosen = random.sample(range(nodes), 20)
    sends = []
    for publisher in chosen[10:]:
        time = 1 + random.expovariate(0.5)
        while time < seconds - 2:
            sends.append(Send(round(time, 9), publisher, 512, tuple(chosen[:10])))
            time += random.expovariate(0.5)
    return sorted(sends, key=lambda send: send.time)


def overflowing(seconds: float, seed: int) -> list[Send]:
    """The shop sends eight copies to each of ten walkers at once, every 5 s: more than its queue holds."""
    walkers = _ten_walkers(seed)
    turns = range(int((seconds - 10) / 5))
    return [Send(5 + 5 * turn, SHOP, 512, walkers) for turn in turns for _ in range(8)]


def evenly(seconds: float, every: float, quiet: float = 3.0) -> list[Send]:
    """The shop says something at even intervals."""
    return [Send(1 + every * turn, SHOP) for turn in range(int((seconds - 1 - quiet) / every))]


def in_bursts(seconds: float, every: float, burst: int, quiet: float = 4.0) -> list[Send]:
    """The shop says `burst` things at once, at even intervals."""
    turns = int((seconds - 1 - quiet) / every)
    return [Send(1 + every * turn, SHOP) for turn in range(turns) for _ in range(burst)]


def by_many(seconds: float, publishers: int, rate: float, nodes: int, seed: int) -> list[Send]:
    """Some of the nodes each say something at exponential intervals."""
    random = Random(f"{seed}/publishers")
    sends = []
    for publisher in random.sample(range(nodes), publishers):
        time = 1 + random.expovariate(rate)
        while time < seconds - 2:
            sends.append(Send(round(time, 9), publisher))
            time += random.expovariate(rate)
    return sorted(sends, key=lambda send: send.time)


def to_all(seconds: float, seed: int) -> list[Send]:
    """The shop sends copies to ten walkers, to all of them every 2.5 s."""
    walkers = _ten_walkers(seed)
    return [Send(5 + 2.5 * turn, SHOP, 512, walkers) for turn in range(int((seconds - 10) / 2.5))]


def in_turns(seconds: float, seed: int) -> list[Send]:
    """The shop sends copies to ten walkers, to one after the other every 0.3125 s."""
    walkers = _ten_walkers(seed)
    turns = range(int((seconds - 10) / 0.3125))
    return [Send(5 + 0.3125 * turn, SHOP, 512, (walkers[turn % len(walkers)],)) for turn in turns]


def _ten_walkers(seed: int) -> tuple[int, ...]:
    return tuple(sorted(Random(f"{seed}/receivers").sample(range(1, 51), 10)))


def one_to_one(seconds: float, seed: int, nodes: int = 200) -> list[Send]:
    """Ten publish every two seconds on average, each event for one of four receivers."""
    publishers, receivers = 10, 4
    random = Random(f"{seed}/one-to-one")
    chosen = random.sample(range(nodes), publishers + receivers)
    sends = []
    for publisher in chosen[receivers:]:
        time = 1 + random.expovariate(0.5)
        while time < seconds - 2:
            sends.append(Send(round(time, 9), publisher, 512, (random.choice(chosen[:receivers]),)))
            time += random.expovariate(0.5)
    return sorted(sends, key=lambda send: send.time)
