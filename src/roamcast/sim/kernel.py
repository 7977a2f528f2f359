"""Construction of a kernel world from a scenario: radio, MAC and movement."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Any

from roamcast._kernel import World
from roamcast.errors import UserError
from roamcast.routing.router import Category
from roamcast.scenario.locality.hubs import Square, place_hubs
from roamcast.scenario.model import Area, Mac, NodeGroup, Scenario
from roamcast.scenario.radio.ofdm import STANDARDS
from roamcast.scenario.radio.settings import Radio, kernel_radio
from roamcast.scenario.traces.movement import Legs
from roamcast.sim.partitions import longest_partition

ATTEMPTS = 1000
"Maximum number of movements drawn in the search for a connected one."


class NeverConnected(UserError):
    """A scenario requires connected movements, and none was found."""


def build(scenario: Scenario, seed: int) -> World:
    """Build a kernel world with the scenario's nodes, not yet started."""
    drawn = seed % 2**64 if scenario.connected is None else _connected_seed(_MovementKey(scenario), seed)
    return _build(scenario, seed, drawn)


def _build(scenario: Scenario, seed: int, drawn: int) -> World:
    """Build a world whose movement and channel are derived from the kernel seed `drawn`."""
    world = World(_radio(scenario.radio, scenario.area), _mac(scenario.mac, scenario.radio), drawn)
    legs = scenario.recorded_legs
    recorded = {node: number for number, node in enumerate(scenario.followers)}
    hubs = place_hubs(scenario, seed)
    for name, nodes in scenario.members():
        for place, node in enumerate(nodes):
            if legs is not None and node in recorded:
                _add_ordered(world, legs.of(recorded[node]))
                continue
            group = scenario.groups[name]
            _add(world, group, place, f"{seed}/place/{node}", _home(scenario, group, place, hubs))
    return world


def movement(scenario: Scenario, seed: int) -> Legs:
    """Return the movement of a run, for use in other simulators; it is identical to that of the run."""
    columns: dict[str, Any] = build(scenario, seed).movement(scenario.duration)
    return Legs(**columns)


class _MovementKey:
    """The part of a scenario that determines whether a movement is connected, as a cache key."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        parts = scenario.model_dump(include={"groups", "area", "duration", "connected", "hubs"})
        self._key = repr((parts, scenario.radio.range))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _MovementKey) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=16)
def _connected_seed(drawing: _MovementKey, seed: int) -> int:
    """Return the first kernel seed of a sequence, starting with the run's own, with connected movement."""
    scenario, connection = drawing.scenario, drawing.scenario.connected
    assert connection is not None, "called only for scenarios with `connected`"
    targets = scenario.nodes_of(connection.to)
    for attempt in range(ATTEMPTS):
        drawn = seed % 2**64
        if attempt:
            digest = hashlib.blake2b(f"{seed}/connected/{attempt}".encode(), digest_size=8).digest()
            drawn = int.from_bytes(digest, "big")
        columns: dict[str, Any] = _build(scenario, seed, drawn).movement(scenario.duration)
        cut_off = longest_partition(
            Legs(**columns), scenario.count, targets, scenario.radio.range, scenario.duration
        )
        if cut_off <= connection.longest:
            return drawn
    raise NeverConnected(
        f"none of {ATTEMPTS} movements drawn for seed {seed} keeps all nodes connected to {connection.to!r}: "
        f"each disconnects a node for longer than connected.longest = {connection.longest:g} s"
    )


def _radio(radio: Radio, area: Area) -> dict[str, Any]:
    """Return the kernel's parameters of the radio; `channel` is present if an optional model is."""
    channel: dict[str, Any] = {}
    if radio.shadowing is not None:
        size = {"width": area.width, "height": area.height}
        channel["shadowing"] = radio.shadowing.model_dump() | size
    if radio.fading is not None:
        channel["fading"] = radio.fading.shape
    if radio.obstacles:
        channel["obstacles"] = [
            (each.wall, each.inside, [list(map(tuple, ring)) for ring in (each.polygon, *each.holes)])
            for each in radio.obstacles
        ]
    if radio.sinr is not None and radio.standard is not None:
        noise = STANDARDS[radio.standard].noise(radio.sinr.noise_figure)
        channel["sinr"] = {"noise": noise, "preamble": 10 ** (radio.sinr.preamble / 10)}
    parameters = kernel_radio(radio)
    if channel or radio.propagation == "log-distance":
        parameters["channel"] = channel
    return parameters


def _mac(mac: Mac, radio: Radio) -> dict[str, Any]:
    first = sum(1 << Category[name.upper()] for name in mac.priority)
    parameters = mac.model_dump() | {"priority": first}
    if radio.lora is not None:
        lora = radio.lora
        parameters["lora"] = {
            "spreading_factor": lora.spreading_factor,
            "bandwidth": lora.bandwidth,
            "coding": int(lora.code[-1]) - 4,
            "preamble": lora.preamble,
            "listen": lora.access == "cad",
            "duty_cycle": lora.duty_cycle,
        }
    if radio.standard is not None:
        standard = STANDARDS[radio.standard]
        parameters["ofdm"] = {
            "symbol": standard.symbol,
            "unicast": standard.unicast[mac.rate].for_kernel(),
            "basic": standard.basic[mac.basic_rate].for_kernel(),
        }
    return parameters


def _add_ordered(world: World, legs: Legs) -> None:
    walks = slice(1, None)  # the first leg is the pause at the start
    orders = (legs.time[walks], legs.x1[walks], legs.y1[walks], legs.speed[walks])
    world.add_ordered(float(legs.x0[0]), float(legs.y0[0]), *(column.tolist() for column in orders))


def _home(scenario: Scenario, group: NodeGroup, place: int, hubs: list[Square]) -> Iterable[float]:
    """Return the south-west corner and the size of the home area of a group's node number `place` [m]."""
    if group.home == "hubs":
        x, y, side = hubs[place * len(hubs) // group.count]
        return x, y, side, side
    if group.home is not None:
        return group.home.x, group.home.y, group.home.width, group.home.height
    return 0.0, 0.0, scenario.area.width, scenario.area.height


def _add(world: World, group: NodeGroup, place: int, chance: str, home: Iterable[float]) -> None:
    x, y, width, height = home
    if group.mobility == "waypoint":
        assert group.speed is not None, "the scenario has checked that walkers have a speed"
        slowest, fastest = group.speed
        speeds = _positive((fastest if group.draw == "fastest" else slowest, fastest))
        world.add_waypoint(x, y, width, height, *speeds, group.pause, stationary=group.start == "stationary")
    elif group.at is not None:
        world.add_static(*group.at[place])
    else:
        random = Random(chance)
        world.add_static(x + width * random.random(), y + height * random.random())


def _positive(speed: tuple[float, float]) -> tuple[float, float]:
    """Return speeds above 0: a node that draws nearly 0 m/s would never arrive."""
    slowest = 1e-3
    return max(speed[0], slowest), max(speed[1], slowest)
