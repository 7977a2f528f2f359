"""The ranking of each world, and the Pareto front over all worlds.

Over all worlds, delivery is the mean over worlds. A cost is the median over worlds of its ratio to that of
the world's median protocol, seed by seed: the typical world decides, not the one with the largest numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import NamedTuple

from roamcast.campaign.plan import point_text
from roamcast.report.comparing.curves import summarise_values
from roamcast.report.league.aspects import COSTS, DELIVERY, service_metric, values_by_seed
from roamcast.report.numbers import Row
from roamcast.report.ranking import Place, rank
from roamcast.report.result import CampaignResult

BREAKS = 0.5
"A protocol breaks in a world if it delivers less than this share of what the best protocol delivers there."


Pair = tuple[str, str]
"A world and a protocol."


class LossCauses(NamedTuple):
    """Why a protocol lost events (or did not satisfy requests) in a run."""

    missed: int
    causes: list[tuple[str, int]]
    "Description and number of losses of each cause, most frequent first."


@dataclass(frozen=True)
class Standing:
    """A protocol in a world."""

    protocol: str
    service: Row
    "Delivery rate, or the share of satisfied requests in a world of requests alone."
    mark: str
    "`best`, `tie` (several may be best) or empty."
    costs: dict[str, Row]
    share: float
    "Its mean service divided by that of the best protocol of the world."

    @property
    def breaks(self) -> bool:
        """Whether the protocol breaks in this world."""
        return self.share < BREAKS


@dataclass(frozen=True)
class WorldRanking:
    """The protocols of a world, the one that delivers most first."""

    world: str
    place: Place
    service: str
    "The metric that ranks: `delivery_rate` or `satisfied_rate`."
    standings: list[Standing]

    @property
    def leaders(self) -> list[str]:
        """The protocols that may be best."""
        return [each.protocol for each in self.standings if each.mark]

    def find(self, protocol: str) -> Standing | None:
        """Return the standing of a protocol, if it ran."""
        return next((each for each in self.standings if each.protocol == protocol), None)


@dataclass(frozen=True)
class Overall:
    """A protocol over all worlds."""

    protocol: str
    worlds: int
    "Number of worlds in which it ran."
    service: Row
    costs: dict[str, Row]
    "Relative to the median protocol of each world."
    best: int
    "Number of worlds in which it is best or may be."
    broken: list[str]
    dominated_by: list[str] = field(default_factory=list)
    "Protocols that deliver at least as much at no higher cost of any kind, by their means."


def rank_worlds(result: CampaignResult) -> list[WorldRanking]:
    """Return the ranking of each world in the order of the campaign; worlds without values are left out."""
    found = []
    for world, sweep in result.campaign.sweeps.items():
        place = (world, point_text(sweep.expand()[0]))
        metric = service_metric(result, place)
        marks = rank(result, place, metric, sweep.protocols)
        rows = {p: result.values[*place, p, metric] for p in sweep.protocols if p in marks}
        if not rows:
            continue
        top = max(row["mean"] for row in rows.values())
        standings = [
            Standing(
                protocol,
                row,
                marks[protocol][1],
                _costs(result, place, protocol),
                row["mean"] / top if top else 1.0,
            )
            for protocol, row in rows.items()
        ]
        standings.sort(key=lambda each: (-each.service["mean"], each.protocol))
        found.append(WorldRanking(world, place, metric, standings))
    return found


def _costs(result: CampaignResult, place: Place, protocol: str) -> dict[str, Row]:
    values = {name: values_by_seed(result, place, protocol, aspect) for name, aspect in COSTS.items()}
    return {
        name: summarise_values(sorted(by_seed.values()), "any") for name, by_seed in values.items() if by_seed
    }


def choose_pairs(rankings: Iterable[WorldRanking], protocols: Iterable[str]) -> list[Pair]:
    """Return the worlds in which each protocol breaks, and the world that it serves worst."""
    listed = list(rankings)
    found: list[Pair] = []
    for protocol in protocols:
        standings = [(each.world, standing) for each in listed if (standing := each.find(protocol))]
        if not standings:
            continue
        worst = min(standings, key=lambda pair: pair[1].share)[0]
        chosen = {world for world, standing in standings if standing.breaks} | {worst}
        found += [(world, protocol) for world, _ in standings if world in chosen]
    return found


def rank_overall(result: CampaignResult, rankings: list[WorldRanking]) -> list[Overall]:
    """Return each protocol over all worlds, those on the front first, then by delivery.

    Only protocols that ran in the same worlds dominate each other.
    """
    relative = {name: _relative_costs(result, rankings, name) for name in COSTS}
    found = []
    for protocol in result.campaign.protocols:
        ran = [each for each in rankings if each.find(protocol) is not None]
        service = _mean_service(result, ran, protocol)
        if service is None:
            continue
        costs = {name: row for name in COSTS if (row := relative[name].get(protocol)) is not None}
        standings = [(each.world, standing) for each in ran if (standing := each.find(protocol))]
        found.append(
            Overall(
                protocol,
                len(ran),
                service,
                costs,
                sum(bool(standing.mark) for _, standing in standings),
                [world for world, standing in standings if standing.breaks],
            )
        )
    for each in found:
        rivals = [other for other in found if other.worlds == each.worlds and other is not each]
        each.dominated_by.extend(other.protocol for other in rivals if dominates(other, each))
    return sorted(found, key=lambda each: (bool(each.dominated_by), -each.service["mean"]))


def dominates(one: Overall, other: Overall) -> bool:
    """Return whether `one` delivers at least as much at no higher cost, and is better at something."""
    mine, theirs = _means(one), _means(other)
    if mine.keys() != theirs.keys():
        return False
    return all(mine[key] <= theirs[key] for key in mine) and any(mine[key] < theirs[key] for key in mine)


def _means(of: Overall) -> dict[str, float]:
    """Return the means of all aspects, with a sign such that less is better."""
    return {"delivery": -of.service["mean"]} | {name: row["mean"] for name, row in of.costs.items()}


def _mean_service(result: CampaignResult, ran: list[WorldRanking], protocol: str) -> Row | None:
    """Return the mean over worlds of the delivery rate, over the seeds that all worlds have."""
    rates = [values_by_seed(result, each.place, protocol, DELIVERY) for each in ran]
    seeds = set.intersection(*(set(each) for each in rates)) if rates else set()
    values = sorted(fmean(each[seed] for each in rates) for seed in seeds)
    return summarise_values(values, "any") if values else None


def _relative_costs(result: CampaignResult, rankings: list[WorldRanking], name: str) -> dict[str, Row]:
    """Return a cost of each protocol relative to the median protocol, median over worlds, over seeds."""
    ratios: dict[str, dict[int, list[float]]] = {}
    for each in rankings:
        costs = {
            standing.protocol: values_by_seed(result, each.place, standing.protocol, COSTS[name])
            for standing in each.standings
        }
        for protocol, seed, ratio in _ratios(costs):
            ratios.setdefault(protocol, {}).setdefault(seed, []).append(ratio)
    return {
        protocol: summarise_values(sorted(median(values) for values in by_seed.values()), "any")
        for protocol, by_seed in ratios.items()
    }


def _ratios(costs: Mapping[str, Mapping[int, float]]) -> list[tuple[str, int, float]]:
    found = []
    for seed in sorted({seed for of in costs.values() for seed in of}):
        usual = median(of[seed] for of in costs.values() if seed in of)
        if usual > 0:
            found += [(protocol, seed, of[seed] / usual) for protocol, of in costs.items() if seed in of]
    return found
