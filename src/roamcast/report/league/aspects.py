"""The four aspects by which the league compares protocols, and their values in a world.

A world with subscriptions is judged by its events, a world of requests alone by its requests.
"""

from __future__ import annotations

from typing import NamedTuple

from roamcast.report.ranking import Place
from roamcast.report.result import CampaignResult


class Aspect(NamedTuple):
    """A metric of the league: its title and unit, and the metrics that it stands for."""

    title: str
    unit: str
    of_events: str
    of_requests: str
    per_answer: bool = False
    "Whether `of_requests` is divided by the number of satisfied requests."


DELIVERY = Aspect("delivery", "%", "delivery_rate", "satisfied_rate")
COSTS = {
    "delay": Aspect("delay", "s", "delay_mean", "response_delay"),
    "airtime": Aspect("airtime per delivery", "s", "airtime_per_delivery", "airtime", True),
    "energy": Aspect("energy per delivery", "J", "energy_per_delivery", "energy", True),
}
"What a protocol costs; less is better."


def has_events(result: CampaignResult, place: Place) -> bool:
    """Return whether nodes subscribe in a world; otherwise it has requests alone."""
    return any(key[:2] == place and key[3] == DELIVERY.of_events for key in result.values)


def service_metric(result: CampaignResult, place: Place) -> str:
    """Return the metric that says how well a protocol serves a world."""
    return DELIVERY.of_events if has_events(result, place) else DELIVERY.of_requests


def values_by_seed(result: CampaignResult, place: Place, protocol: str, aspect: Aspect) -> dict[int, float]:
    """Return the values of an aspect in a world by seed, without seeds in which it is not defined."""
    if has_events(result, place):
        return result.by_seed(*place, protocol, aspect.of_events)
    found = result.by_seed(*place, protocol, aspect.of_requests)
    if not aspect.per_answer:
        return found
    asked, satisfied = (result.by_seed(*place, protocol, name) for name in ("requests", "satisfied_rate"))
    answers = {seed: asked[seed] * satisfied[seed] for seed in found if seed in asked and seed in satisfied}
    return {seed: found[seed] / count for seed, count in answers.items() if count > 0}
