"""The ranges from which random worlds are drawn; docs/advisor.md has them as a table."""

from __future__ import annotations

import math
from random import Random
from typing import Literal, NamedTuple


class Range(NamedTuple):
    """An interval from which a number is drawn, uniformly or uniformly in its logarithm."""

    low: float
    high: float
    unit: str
    scale: Literal["linear", "log"]
    meaning: str

    def draw(self, random: Random, most: float = math.inf) -> float:
        """Return a number between `low` and the smaller of `high` and `most`, with three digits."""
        high = max(self.low, min(self.high, most))
        if self.scale == "linear":
            drawn = random.uniform(self.low, high)
        else:
            drawn = math.exp(random.uniform(math.log(self.low), math.log(high)))
        return min(max(float(f"{drawn:.3g}"), self.low), high)

    def draw_count(self, random: Random, most: float = math.inf) -> int:
        """Return a whole number between `low` and the smaller of `high` and `most`."""
        return round(self.draw(random, most))


class Choice(NamedTuple):
    """Alternatives of which one is drawn, each with its probability."""

    alternatives: dict[str, float]
    meaning: str

    def draw(self, random: Random) -> str:
        """Return one of the alternatives."""
        return random.choices(list(self.alternatives), list(self.alternatives.values()))[0]


RANGES: dict[str, Range] = {
    "nodes": Range(10, 80, "", "log", "number of nodes"),
    "degree": Range(3, 30, "", "log", "nodes in range of a node at uniform density, at most all nodes"),
    "aspect": Range(1, 4, "", "log", "width of the area divided by its height"),
    "duration": Range(70, 110, "s", "linear", "duration of a short run; 30 s of it are warm-up, 10 s quiet"),
    "long_duration": Range(150, 400, "s", "log", "duration of a long run; 30 s of it are warm-up"),
    "long_quiet": Range(15, 90, "s", "log", "time without new publications at the end of a long run"),
    "speed": Range(0.5, 20, "m/s", "log", "maximum speed of moving nodes; the minimum is a tenth of it"),
    "pause": Range(0, 60, "s", "linear", "pause at each waypoint"),
    "static_share": Range(0.1, 0.9, "", "linear", "share of static nodes, if some nodes are static"),
    "hubs": Range(2, 4, "", "linear", "number of hubs, if nodes gather in hubs"),
    "hub_share": Range(0.05, 0.4, "", "linear", "share of the area that the hubs cover"),
    "range": Range(80, 400, "m", "log", "radio range"),
    "carrier_sense": Range(1.5, 2.5, "", "linear", "carrier-sense range divided by the radio range"),
    "load": Range(0.03, 1, "", "log", "share of the channel's time that flooding would need"),
    "rate": Range(0.8, 8, "/s", "log", "limits of the rate of all publications, which follows from the load"),
    "long_rate": Range(0.3, 4, "/s", "log", "limits of this rate in long runs"),
    "publishers": Range(1, 10, "", "log", "number of publishers"),
    "burst": Range(2, 8, "", "log", "events per burst, if publishers send bursts"),
    "size": Range(64, 1400, "B", "log", "size of an event"),
    "subscribers": Range(0.1, 1, "", "log", "share of the nodes that subscribe; at least three nodes"),
    "topics": Range(1, 20, "", "log", "number of topics"),
    "topics_chosen": Range(1, 3, "", "linear", "topics per subscriber"),
    "filters": Range(2, 20, "", "log", "number of different range filters"),
    "selectivity": Range(0.05, 1, "", "log", "share of the events that a range filter matches"),
    "zones": Range(2, 25, "", "log", "number of zones"),
    "bias": Range(0.5, 1, "", "linear", "probability that a subscriber selects its own zone"),
    "tick": Range(1, 30, "s", "log", "position polling interval of subscribers to zones"),
    "locality": Range(0.2, 1, "", "linear", "share of subscribers with the common interest, if there is one"),
    "faulty": Range(0.1, 0.6, "", "linear", "share of the nodes that are affected by faults"),
    "fault_every": Range(20, 120, "s", "log", "mean time between the outages of a node"),
    "fault_down": Range(5, 60, "s", "log", "mean duration of an outage"),
}
"The intervals of numbers, by name."

CHOICES: dict[str, Choice] = {
    "mobility": Choice(
        {"static": 0.25, "waypoint": 0.4, "mixed": 0.2, "hubs": 0.15},
        "all nodes static, all random waypoint, some static, or random waypoint in hubs and between them",
    ),
    "content": Choice(
        {"topics": 0.4, "levels": 0.3, "zones": 0.3},
        "filters on equal topics, on overlapping ranges of a level, or on the zone of the subscriber",
    ),
    "gaps": Choice({"even": 0.5, "exponential": 0.5}, "intervals between bursts of a publisher"),
    "burst": Choice({"single": 0.7, "burst": 0.3}, "single events, or bursts"),
    "locality": Choice({"none": 0.7, "common": 0.3}, "whether some subscribers have a common interest"),
    "faults": Choice(
        {"none": 0.6, "crash": 0.15, "radio": 0.15, "churn": 0.1},
        "no faults, crashes, radio outages, or late arrivals and early departures",
    ),
    "memory": Choice({"lost": 0.7, "kept": 0.3}, "state of a router after a crash"),
    "location": Choice({"yes": 0.85, "no": 0.15}, "whether routers may use positions"),
    "propagation": Choice({"two-ray": 0.8, "friis": 0.2}, "propagation model"),
    "rates": Choice(
        {"1, 2": 0.4, "1, 11": 0.15, "2, 11": 0.15, "5.5, 11": 0.1, "11, 11": 0.2},
        "basic rate and data rate [Mb/s]",
    ),
}
"The alternatives, by name."
