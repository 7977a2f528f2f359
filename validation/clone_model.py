"""The formulas of Zhang et al., section III.

Overhead is hops a second; sizes are in units of a message that is no publication, which is gamma of them.
`python -m validation.clone_beside out/zhang` puts in what a campaign has measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal


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
    contents: float = 1.0
    """Kinds of content, each advertised and published by itself. Section III is about one; a consumer still
    asks every T_S, for one of them."""
    far: float | None = None
    "Mean hops from a principal to a provider, where they were measured."
    near: float | None = None
    "Mean hops from a member to its principal, where they were measured."
    fetched_share: Literal["printed", "unserved"] = "printed"
    """Share of the subscriptions that fetch content from a provider in (4) and (II): 1 - alpha as printed, or
    alpha, the share that cannot be served locally, as in (3)."""

    @property
    def across(self) -> float:
        """Mean hops from a principal to a provider: half of a side."""
        return sqrt(self.nodes) / 2 if self.far is None else self.far

    @property
    def within(self) -> float:
        """Hops of half of a community's members to their principal, together."""
        members = self.nodes / self.communities
        return members / 2 * (sqrt(members) / 2 if self.near is None else self.near)

    def construction(self) -> float:
        """Expression (1)."""
        return 2 * self.communities / self.construct * 4 * self.radius**2 * self.construction_size

    def advertising(self) -> float:
        """Expression (2)."""
        return self.contents * self.nodes * self.advert_size / self.advertise

    def subscribing(self) -> float:
        """Expression (3)."""
        inter = self.unserved / self.subscribe * self.communities / 2 * self.across
        return (inter + self.within / self.subscribe) * self.subscription_size

    @property
    def fetches(self) -> float:
        """Share of the subscriptions for which (4) sends content from a provider to a principal."""
        return 1 - self.unserved if self.fetched_share == "printed" else self.unserved

    def publishing(self) -> float:
        """Expression (4)."""
        rate = self.contents / self.publish + self.fetches / self.subscribe
        inter = rate * self.communities / 2 * self.across
        return (inter + self.within / self.subscribe) * self.publication_size

    def clone(self) -> float:
        """The sum of (1) to (4)."""
        return self.construction() + self.advertising() + self.subscribing() + self.publishing()

    def traditional(self) -> float:
        """Expression (5)."""
        return self.advertising() + self._traditional_rate() * self.nodes / 2 * self.across

    def ratio_many_nodes(self) -> float:
        """Expression (I): CLONE's overhead over the traditional one, for many more nodes than communities.

        The divisor is printed with T_P for both terms; (5) has T_S for subscriptions, so does this one.
        """
        both = (self.subscription_size + self.publication_size) / self.subscribe
        return both / (self.communities * sqrt(self.communities)) / self._traditional_rate()

    def ratio_large_events(self) -> float:
        """Expression (II): the same for publications much larger than other messages."""
        k, n = self.communities, self.nodes
        rate = self.contents / self.publish + self.fetches / self.subscribe
        return (rate * k + n / (k * sqrt(k) * self.subscribe)) / (self.contents / self.publish * n)

    def _traditional_rate(self) -> float:
        return self.contents * self.publication_size / self.publish + self.subscription_size / self.subscribe

    def ratio(self) -> float:
        """Expression (III): CLONE's overhead over the traditional one, for many nodes and large events."""
        return self.publish / (self.communities * sqrt(self.communities) * self.subscribe)


def fewest_communities(publish: float, subscribe: float) -> int:
    """With more communities than that CLONE costs less, by (III)."""
    return ceil((publish / subscribe) ** (2 / 3))


def clone_delay(hit: float, within: float, across: float, improvement: float) -> float:
    """D_CLONE: `hit` of the requests take `within` seconds, the others `improvement * across` more."""
    return hit * within + (1 - hit) * (within + improvement * across)


def basic_delay(hit: float, within: float, across: float, publish: float) -> float:
    """The same without delegates: a miss waits for the next publication."""
    return hit * within + (1 - hit) * (within + across + publish / 2)


def traditional_delay(publish: float) -> float:
    """D_Trad: half of the time between publications."""
    return publish / 2
