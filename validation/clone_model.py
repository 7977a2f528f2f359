"""The formulas of Zhang et al., section III, beside what runs of the city measure.

Overhead is hops a second; sizes are in units of a message that is no publication, which is gamma of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import ceil, sqrt

from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.outcome import look


@dataclass(frozen=True)
class Model:
    """Section III-A: a square field of so many nodes, and what is exchanged."""

    nodes: float
    "N."
    communities: float
    "k."
    unserved: float
    "alpha: the share of subscriptions that cannot be served locally."
    radius: float = 3.0
    "h: of a community, in hops."
    publish: float = 10.0
    "T_P."
    subscribe: float = 7.0
    "T_S."
    advertise: float = 50.0
    "T_A."
    construct: float = 100.0
    "T_C."
    advert_size: float = 1.0
    subscription_size: float = 1.0
    publication_size: float = 10.0
    construction_size: float = 1.0

    @property
    def across(self) -> float:
        """Mean hops from a principal to a provider: half of a side."""
        return sqrt(self.nodes) / 2

    @property
    def within(self) -> float:
        """Hops of half of a community's members to their principal, together."""
        members = self.nodes / self.communities
        return members / 2 * sqrt(members) / 2

    def construction(self) -> float:
        """Expression (1)."""
        return 2 * self.communities / self.construct * 4 * self.radius**2 * self.construction_size

    def advertising(self) -> float:
        """Expression (2)."""
        return self.nodes * self.advert_size / self.advertise

    def subscribing(self) -> float:
        """Expression (3)."""
        inter = self.unserved / self.subscribe * self.communities / 2 * self.across
        return (inter + self.within / self.subscribe) * self.subscription_size

    def publishing(self) -> float:
        """Expression (4)."""
        rate = 1 / self.publish + (1 - self.unserved) / self.subscribe
        inter = rate * self.communities / 2 * self.across
        return (inter + self.within / self.subscribe) * self.publication_size

    def clone(self) -> float:
        """The sum of (1) to (4)."""
        return self.construction() + self.advertising() + self.subscribing() + self.publishing()

    def traditional(self) -> float:
        """Expression (5)."""
        both = self.publication_size / self.publish + self.subscription_size / self.subscribe
        return self.advertising() + both * self.nodes / 2 * self.across

    def ratio(self) -> float:
        """Expression (III): CLONE's overhead over the traditional one, for many nodes and large events."""
        return self.publish / (self.communities * sqrt(self.communities) * self.subscribe)


def fewest_communities(publish: float, subscribe: float) -> int:
    """With more communities than that CLONE costs less, by (III)."""
    return ceil((publish / subscribe) ** (2 / 3))


def clone_delay(hit: float, within: float, across: float, improvement: float) -> float:
    """D_CLONE: `hit` of the requests take `within` seconds, the others `improvement * across` more."""
    return hit * within + (1 - hit) * (within + improvement * across)


def traditional_delay(publish: float) -> float:
    """D_Trad: half of the time between publications."""
    return publish / 2


def model_of(facts: Facts, gamma: float = 10.0) -> Model:
    """The model with what a run has measured put in."""
    found = evaluate(look(facts), ["communities", "hit_rate"])
    hit = found["hit_rate"] or 0.0
    return Model(
        facts.run.nodes, float(found["communities"] or facts.run.nodes), 1 - hit, publication_size=gamma
    )


def main() -> None:
    """Print both for each protocol; the first argument is the duration of the runs."""
    import roamcast

    duration = sys.argv[1] if len(sys.argv) > 1 else "700 s"
    print(f"{'':<10}{'k':>6}{'alpha':>8}{'formula':>12}{'measured':>12}   weighted messages a second")
    for protocol in ("cbr", "grid-cbr", "clone"):
        settings = (f'duration="{duration}"', 'warmup="300 s"', 'nodes.drivers.speed.max="2 m/s"')
        facts = roamcast.run("city", protocol, 101, settings).facts
        model = model_of(facts)
        spent = evaluate(look(facts), ["overhead_normalised"])["overhead_normalised"] or 0.0
        said = model.traditional() if protocol == "cbr" else model.clone()
        rate = spent / (facts.run.duration - facts.run.warmup)
        print(
            f"{protocol:<10}{model.communities:>6.0f}{model.unserved:>8.2f}{said:>12.0f}{rate:>12.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
