"""The ground of a run as its facts describe it: area, zones, hubs, groups, buildings and the radio."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from roamcast.errors import UserError
from roamcast.facts.tables import Facts
from roamcast.replay.layout import SIDE
from roamcast.scenario.locality.hubs import place_hubs
from roamcast.scenario.model import Area, Hubs, Scenario
from roamcast.scenario.workload import Zones
from roamcast.scenario.zones import ZoneGrid

MOST_ZONES = 2000
"More zones are not drawn: their borders would cover the map."


def describe_ground(facts: Facts) -> dict[str, Any]:
    """Return what the map shows besides nodes; values are None or empty where the facts lack them."""
    resolved = facts.run.resolved
    placed = len(facts["legs"]) > 0
    area = _read_area(resolved) or _bound(facts) if placed else Area.model_construct(width=SIDE, height=SIDE)
    radio = resolved.get("radio") or {}
    return {
        "area": [area.width, area.height],
        "zones": _zones(resolved, area),
        "hubs": _hubs(resolved, area, facts.run.seed),
        "buildings": _buildings(radio),
        "groups": _groups(resolved, facts.run.nodes),
        "placed": placed,
        "range": facts.run.range,
        "sense": radio.get("carrier_sense") if isinstance(radio, dict) else None,
    }


def _read_area(resolved: dict[str, Any]) -> Area | None:
    try:
        return Area.model_validate(resolved["area"])
    except (KeyError, ValidationError):
        return None


def _bound(facts: Facts) -> Area:
    """Return the area in which the nodes of facts without a scenario were."""
    legs = facts["legs"]
    size = [max((*legs[a].to_pylist(), *legs[b].to_pylist(), 1.0)) for a, b in (("x0", "x1"), ("y0", "y1"))]
    return Area.model_construct(width=size[0], height=size[1])


def _zones(resolved: dict[str, Any], area: Area) -> dict[str, Any] | None:
    try:
        zones = Zones.model_validate(resolved["workload"]["zones"])
    except (KeyError, TypeError, ValidationError):
        return None
    grid = ZoneGrid(area, zones)
    if len(grid) > MOST_ZONES:
        return None
    return {"side": grid.side, "columns": grid.columns, "rows": grid.rows, "type": zones.type}


def _hubs(resolved: dict[str, Any], area: Area, seed: int) -> list[list[float]]:
    """Return the hubs as x, y and side; they follow from scenario and seed alone."""
    try:
        hubs = Hubs.model_validate(resolved["hubs"])
        scenario = Scenario.model_construct(area=area, hubs=hubs)
        return [[each.x, each.y, each.side] for each in place_hubs(scenario, seed)]
    except (KeyError, ValidationError, UserError):
        return []


def _buildings(radio: Any) -> list[list[list[list[float]]]]:
    """Return the outlines of the obstacles to signals: each with its courtyards, as corners [m]."""
    try:
        return [
            [[[float(x), float(y)] for x, y in ring] for ring in (each["polygon"], *each.get("holes", ()))]
            for each in radio.get("obstacles", ())
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []


def _groups(resolved: dict[str, Any], nodes: int) -> list[dict[str, Any]]:
    """Return name, first node, count and home of each group; a single group if the facts lack them."""
    try:
        groups, first = [], 0
        for name, group in resolved["nodes"].items():
            home = group.get("home")
            box = [home[key] for key in ("x", "y", "width", "height")] if isinstance(home, dict) else None
            groups.append({"name": str(name), "first": first, "count": int(group["count"]), "home": box})
            first += int(group["count"])
    except (AttributeError, KeyError, TypeError, ValueError):
        groups, first = [], -1
    return groups if first == nodes else [{"name": "nodes", "first": 0, "count": nodes, "home": None}]
