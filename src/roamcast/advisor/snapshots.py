"""Snapshots of a scenario: positions, links, faults and audiences at some moments, without sending a frame.

Movement, publications, interests and faults come from the generators of the simulator, with seeds that no
run uses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roamcast.content.filter import Filter
from roamcast.routing.faults import Fault, FaultKind, absent_nodes
from roamcast.routing.router import Position
from roamcast.scenario.model import Scenario
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.interest import Interest, subscribers
from roamcast.sim.kernel import movement
from roamcast.sim.oracle import Oracle
from roamcast.sim.partitions import places_at
from roamcast.sim.workload import PlannedPublication, plan

Reals = npt.NDArray[np.float64]

SEEDS = tuple(range(2**40, 2**40 + 3))
"Seeds of the snapshots; those of runs are smaller."

MOMENTS = 4
"Snapshots per seed, evenly distributed over the time that metrics count."

_EVENTS = 24
"Maximum number of publications that are matched in a snapshot."

SOON, LATER = 5.0, 30.0
"Times after which links and interests are compared with those of the snapshot [s]."

_WORKING = {FaultKind.ARRIVE: True, FaultKind.START: True, FaultKind.WAKE: True}
_WORKING |= {FaultKind.CRASH: False, FaultKind.SLEEP: False}


class WorldSnapshot(NamedTuple):
    """The state of a scenario at one moment."""

    degrees: npt.NDArray[np.int64]
    "Number of nodes in range, by node."
    crowd: float
    "Mean number of nodes within the carrier-sense range, with the node itself."
    largest: float
    "Share of the nodes in the largest connected component."
    kept_soon: float
    "Share of the links that still exist `SOON` seconds later."
    kept_later: float
    "Share of the links that still exist `LATER` seconds later."
    speed: float
    "Speed of the nodes, mean [m/s]."
    subscribers: int
    "Number of working subscribers."
    audiences: Reals
    "Number of expecting nodes of each sampled publication."
    hops: Reals
    "Hops from the publisher to each expecting node of the sampled publications; infinite without a path."
    filters: float
    "Number of different filters per subscriber."
    changed: float
    "Share of the subscribers whose interests differ `LATER` seconds later."
    down: float
    "Share of the nodes that do not work, or whose radio is off."


def take_snapshots(scenario: Scenario) -> Iterator[WorldSnapshot]:
    """Yield the snapshots of a scenario."""
    end = max(scenario.duration - scenario.quiet, scenario.warmup)
    moments = scenario.warmup + (np.arange(MOMENTS) + 0.5) / MOMENTS * (end - scenario.warmup)
    times = np.unique(np.concatenate([moments, moments + SOON, moments + LATER]))
    for seed in SEEDS:
        legs = movement(scenario, seed)
        places = dict(zip(times, places_at(legs, scenario.count, times), strict=True))
        publications = plan(scenario, seed).publications
        interests = subscribers(scenario, seed)
        faults = draw_faults(scenario, seed)
        for moment in moments:
            three = [places[time] for time in (moment, moment + SOON, moment + LATER)]
            near = _choose_events(publications, float(moment))
            yield _take(scenario, three, near, interests, _states(scenario.count, faults, float(moment)))


def _choose_events(publications: list[PlannedPublication], moment: float) -> list[PlannedPublication]:
    """Return the publications next to `moment`, in time."""
    times = np.array([each.time for each in publications])
    nearest = np.argsort(np.abs(times - moment), kind="stable")[:_EVENTS]
    return [publications[number] for number in nearest]


def _states(count: int, faults: list[Fault], moment: float) -> tuple[npt.NDArray[np.bool_], ...]:
    """Return which nodes work, and whose radio is on, at `moment`."""
    works, radio = np.ones(count, bool), np.ones(count, bool)
    works[sorted(absent_nodes(faults))] = False
    for fault in faults:
        if fault.time > moment:
            break
        if fault.kind in _WORKING:
            works[fault.node] = _WORKING[fault.kind]
        else:
            radio[fault.node] = fault.kind is FaultKind.RADIO_ON
    return works, radio


def _take(
    scenario: Scenario,
    places: list[Reals],
    events: list[PlannedPublication],
    interests: list[Interest],
    states: tuple[npt.NDArray[np.bool_], ...],
) -> WorldSnapshot:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, dijkstra
    from scipy.spatial import cKDTree

    works, radio = states
    on = works & radio
    reach, count = scenario.radio.range, scenario.count
    here = cKDTree(places[0])
    links = here.query_pairs(reach, output_type="ndarray")
    links = links[on[links].all(axis=1)]
    degrees = np.bincount(links.ravel(), minlength=count)
    sensed = here.count_neighbors(here, scenario.radio.carrier_sense) / count
    kept = [
        float((np.hypot(*(later[links[:, 0]] - later[links[:, 1]]).T) <= reach).mean()) if len(links) else 1.0
        for later in places[1:]
    ]
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count)).tocsr()
    part = connected_components(graph, directed=False)[1]
    oracle = Oracle()
    now: dict[int, tuple[Filter, ...]] = {}
    then: dict[int, tuple[Filter, ...]] = {}
    for interest in interests:
        if works[interest.node]:
            now[interest.node] = _filters(interest, places[0], 0)
            then[interest.node] = _filters(interest, places[2], math.ceil(LATER / interest.tick))
            for filter in now[interest.node]:
                oracle.add(interest.node, filter)
    sent = [each for each in events if works[each.publisher]]
    pairs = [(each.publisher, oracle.expected(each.event, each.publisher)) for each in sent]
    sources = sorted({publisher for publisher, _ in pairs})
    far = (
        dijkstra(graph, directed=False, unweighted=True, indices=sources) if sources else np.zeros((0, count))
    )
    row = {publisher: number for number, publisher in enumerate(sources)}
    hops = [far[row[publisher], audience] for publisher, audience in pairs if audience]
    different = {filter for filters in now.values() for filter in filters}
    changed = [now[node] != then[node] for node in now]
    return WorldSnapshot(
        degrees=degrees,
        crowd=float(sensed),
        largest=float(np.bincount(part).max() / count),
        kept_soon=kept[0],
        kept_later=kept[1],
        speed=float(np.hypot(*(places[1] - places[0]).T).mean() / SOON),
        subscribers=len(now),
        audiences=np.array([len(audience) for _, audience in pairs], float),
        hops=np.concatenate(hops) if hops else np.zeros(0),
        filters=len(different) / max(len(now), 1),
        changed=float(np.mean(changed)) if changed else 0.0,
        down=float(1 - on.mean()),
    )


def _filters(interest: Interest, places: Reals, look: int) -> tuple[Filter, ...]:
    x, y = places[interest.node]
    return interest.filters_at(Position(float(x), float(y)), look)
