"""A scenario as the compiled kernel wants it: its radio, its MAC and its nodes' movement."""

from __future__ import annotations

from random import Random
from typing import Any

from roamcast._kernel import World
from roamcast.routing.router import Category
from roamcast.scenario.model import Group, Mac, Radio, Scenario
from roamcast.scenario.traces.movement import Legs


def build(scenario: Scenario, seed: int) -> World:
    """A kernel world with the scenario's nodes in it, not yet started."""
    world = World(_radio(scenario.radio), _mac(scenario.mac), seed % 2**64)
    legs = scenario.recorded_legs
    recorded = {node: number for number, node in enumerate(scenario.followers)}
    for name, nodes in scenario.members():
        for place, node in enumerate(nodes):
            if legs is not None and node in recorded:
                _add_ordered(world, legs.of(recorded[node]))
            else:
                _add(world, scenario, scenario.groups[name], place, f"{seed}/place/{node}")
    return world


def movement(scenario: Scenario, seed: int) -> Legs:
    """The movement of a run, for other simulators to follow; the same as the run itself will see."""
    columns: dict[str, Any] = build(scenario, seed).movement(scenario.duration)
    return Legs(**columns)


def _radio(radio: Radio) -> dict[str, Any]:
    return radio.model_dump() | {"capture": 10 ** (radio.capture / 10)}


def _mac(mac: Mac) -> dict[str, Any]:
    first = sum(1 << Category[name.upper()] for name in mac.priority)
    return mac.model_dump() | {"priority": first}


def _add_ordered(world: World, legs: Legs) -> None:
    walks = slice(1, None)  # the first leg is the rest at the start
    orders = (legs.time[walks], legs.x1[walks], legs.y1[walks], legs.speed[walks])
    world.add_ordered(float(legs.x0[0]), float(legs.y0[0]), *(column.tolist() for column in orders))


def _add(world: World, scenario: Scenario, group: Group, place: int, chance: str) -> None:
    home = group.home
    x, y, width, height = (
        (home.x, home.y, home.width, home.height)
        if home
        else (0.0, 0.0, scenario.area.width, scenario.area.height)
    )
    if group.mobility == "waypoint":
        assert group.speed is not None, "the scenario has checked that walkers have a speed"
        world.add_waypoint(
            x, y, width, height, *_positive(group.speed), group.pause, stationary=group.start == "stationary"
        )
    elif group.at is not None:
        world.add_static(*group.at[place])
    else:
        random = Random(chance)
        world.add_static(x + width * random.random(), y + height * random.random())


def _positive(speed: tuple[float, float]) -> tuple[float, float]:
    """Speeds that the kernel can divide by: a walker that draws nearly 0 m/s would never arrive."""
    slowest = 1e-3
    return max(speed[0], slowest), max(speed[1], slowest)
