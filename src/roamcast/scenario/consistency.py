"""Checks across the sections of a scenario, which no section can make alone."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from roamcast.errors import UserError
from roamcast.scenario.model import EVERYONE, Rectangle
from roamcast.scenario.radio.buildings import invalid
from roamcast.scenario.radio.complete import LORA_HEADER, LORA_PAYLOAD
from roamcast.scenario.radio.ofdm import STANDARDS
from roamcast.scenario.workload import Documents

if TYPE_CHECKING:
    from roamcast.scenario.model import Scenario


MOST_NODES = 1_000_000
MOST_SECONDS = 4e6
MOST_SAMPLES = 1_000_000
MOST_ZONES = 100_000
MOST_PUBLICATIONS = 10_000_000
MOST_FAULTS = 1_000_000
MOST_TOPICS = 10_000
MOST_QUARTERS = 100


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint at the known word that is closest to `word`."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known) or 'nothing'}"


def inconsistencies(scenario: Scenario, context: Any = None) -> Iterator[tuple[str, str]]:
    """Yield each inconsistency between sections: the key to change, and the problem.

    `context` is the validation context, in which the protocols' parameters are validated too.
    """
    yield from _times(scenario)
    yield from _sizes(scenario)
    yield from _frames(scenario)
    yield from _rates(scenario)
    yield from _buildings(scenario)
    yield from _places(scenario)
    yield from _hubs(scenario)
    yield from _areas(scenario)
    yield from _roles(scenario)
    yield from _faults(scenario)
    yield from _protocols(scenario, context)


def _times(scenario: Scenario) -> Iterator[tuple[str, str]]:
    if scenario.duration > MOST_SECONDS:
        yield (
            "duration",
            f"{scenario.duration:g} s exceed the maximum of {MOST_SECONDS:g} s (a picosecond clock)",
        )
    if scenario.warmup + scenario.quiet >= scenario.duration:
        yield (
            "warmup",
            f"warmup ({scenario.warmup:g} s) and quiet ({scenario.quiet:g} s) must be shorter together "
            f"than the duration ({scenario.duration:g} s)",
        )


def _sizes(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Check sizes for errors of a unit or a digit before they exhaust the memory."""
    if scenario.count > MOST_NODES:
        yield "nodes", f"{scenario.count} nodes; expected at most {MOST_NODES}"
        return
    if scenario.duration / scenario.sample > MOST_SAMPLES:
        yield "sample", f"more than {MOST_SAMPLES} samples in {scenario.duration:g} s; use a longer interval"
    workload = scenario.workload
    if workload.zones is not None:
        columns, rows = scenario.area.width / workload.zones.side, scenario.area.height / workload.zones.side
        if max(columns, 1) * max(rows, 1) > MOST_ZONES:
            yield "workload.zones.side", f"more than {MOST_ZONES} zones in the area; use a longer side"
    topics = workload.topics.count if workload.topics is not None else 0
    if topics > MOST_TOPICS:
        yield "workload.topics.count", f"{topics} topics; expected at most {MOST_TOPICS}"
    for name, publishing in workload.publish.items():
        streams = publishing.count or _size(scenario, name)
        if publishing.content == "own-topics":
            streams = max(topics, 1)
        if (scenario.duration / publishing.every + 1) * publishing.burst * streams > MOST_PUBLICATIONS:
            yield (
                f"workload.publish.{name}.every",
                f"more than {MOST_PUBLICATIONS} publications; use a longer interval",
            )
    for name, requesting in workload.request.items():
        requesters = requesting.count or _size(scenario, name)
        if (scenario.duration / requesting.every + 1) * requesters > MOST_PUBLICATIONS:
            yield (
                f"workload.request.{name}.every",
                f"more than {MOST_PUBLICATIONS} requests; use a longer interval",
            )
    for name, subscribing in workload.subscribe.items():
        if scenario.duration / subscribing.tick > MOST_SAMPLES:
            yield (
                f"workload.subscribe.{name}.tick",
                f"more than {MOST_SAMPLES} polls in {scenario.duration:g} s; use a longer interval",
            )


def _frames(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for name, publishing in scenario.workload.publish.items():
        if publishing.size > scenario.mac.max_message:
            yield f"workload.publish.{name}.size", too_large(publishing.size, scenario.mac.max_message)


def _rates(scenario: Scenario) -> Iterator[tuple[str, str]]:
    radio, mac = scenario.radio, scenario.mac
    if radio.lora is not None:
        if mac.arp:
            yield "mac.arp", "a LoRa radio has no address resolution; remove it"
        if mac.max_message + mac.network_header + LORA_HEADER > LORA_PAYLOAD:
            most = LORA_PAYLOAD - LORA_HEADER - mac.network_header
            yield "mac.max_message", f"a LoRa frame carries a message of at most {most} B"
    if radio.standard is None:
        return
    standard = STANDARDS[radio.standard]
    for key, rate, known in (
        ("rate", mac.rate, standard.unicast),
        ("basic_rate", mac.basic_rate, standard.basic),
    ):
        if rate not in known:
            rates = ", ".join(f"{each / 1e6:g}" for each in known)
            yield (
                f"mac.{key}",
                f"{rate / 1e6:g} Mb/s is not a rate of {radio.standard}; expected one of {rates} Mb/s",
            )


def _buildings(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for number, building in enumerate(scenario.radio.obstacles):
        if building.file is None and (problem := invalid(building)):
            yield f"radio.obstacles.{number}", f"the polygon is not valid: {problem}"


def too_large(size: float, most: float) -> str:
    """Return the error for an event of `size` bytes if a frame carries at most `most` bytes."""
    return f"{size:,.0f} B exceed the maximum message size (mac.max_message = {most:,.0f} B)"


def _size(scenario: Scenario, group: str) -> int:
    """Return the number of nodes of a group; 1 for an unknown group."""
    return len(scenario.nodes_of(group)) if group == EVERYONE or group in scenario.groups else 1


def _hubs(scenario: Scenario) -> Iterator[tuple[str, str]]:
    hubs, area = scenario.hubs, scenario.area
    for name, group in scenario.groups.items():
        if group.home == "hubs" and hubs is None:
            yield f"nodes.{name}.home", 'there are no hubs; add hubs = { count = 4, side = "500 m" }'
    if hubs is not None:
        if max(hubs.side / area.width, hubs.side / area.height) > 1:
            yield "hubs.side", "a hub is larger than the area"
        elif hubs.at is None and hubs.count * hubs.side**2 > area.width * area.height / 2:
            yield (
                "hubs.count",
                "hubs at random positions may cover at most half of the area; set hubs.at",
            )
        for corner in hubs.at or ():
            if not area.contains(corner.x + hubs.side, corner.y + hubs.side):
                yield "hubs.at", f"the hub at ({corner.x:g}, {corner.y:g}) extends outside the area"
        if hubs.at is not None and len(hubs.at) != hubs.count:
            yield "hubs.at", f"{len(hubs.at)} positions for {hubs.count} hubs; expected one per hub"


def _areas(scenario: Scenario) -> Iterator[tuple[str, str]]:
    areas, hubs = scenario.workload.areas, scenario.hubs
    if areas is None:
        return
    count = hubs.count if hubs is not None else 0
    if scenario.workload.topics is None:
        yield "workload.areas", "areas need topics; add workload.topics"
    if areas.quarters > MOST_QUARTERS:
        yield (
            "workload.areas.quarters",
            f"{areas.quarters} quarters along a side; expected at most {MOST_QUARTERS}",
        )
    numbers = areas.hubs if areas.hubs is not None else list(range(count))
    if sorted(set(numbers)) != sorted(numbers) or len(numbers) != count:
        yield "workload.areas.hubs", f"expected {count} different numbers, one per hub"
    elif any(number >= areas.quarters**2 + count for number in numbers):
        yield "workload.areas.hubs", f"expected numbers from 0 to {areas.quarters**2 + count - 1}"


def _places(scenario: Scenario) -> Iterator[tuple[str, str]]:
    area = scenario.area
    for name, group in scenario.groups.items():
        for place in group.at or ():
            if not area.contains(*place):
                yield f"nodes.{name}.at", f"({place.x:g}, {place.y:g}) lies outside the area"
        home = group.home
        if isinstance(home, Rectangle) and not area.contains(home.x + home.width, home.y + home.height):
            yield f"nodes.{name}.home", "the rectangle extends outside the area"
        everyone = not any(other.mobility == "file" for other in scenario.groups.values())
        if group.at is not None and scenario.mobility is not None and everyone:
            yield (
                f"nodes.{name}.at",
                "the movement file would move these nodes too; "
                'set mobility = "file" in the groups that it moves',
            )
        if group.mobility == "file" and scenario.mobility is None:
            yield f"nodes.{name}.mobility", 'no movement file is given; add mobility = { ns2 = "FILE" }'
    if scenario.connected is not None:
        to = scenario.connected.to
        if to not in scenario.groups:
            yield "connected.to", f"no group of nodes has this name; {nearest(to, scenario.groups)}"
        if scenario.mobility is not None:
            yield "connected", "applies to generated movement only; remove it or the movement file"


def _roles(scenario: Scenario) -> Iterator[tuple[str, str]]:
    workload = scenario.workload
    publish, subscribe, request = workload.publish, workload.subscribe, workload.request
    for verb, roles in (("publish", publish), ("subscribe", subscribe), ("request", request)):
        for name, role in roles.items():
            key = f"workload.{verb}.{name}"
            if name != EVERYONE and name not in scenario.groups:
                yield key, f"no group of nodes has this name; {nearest(name, scenario.groups)}"
            elif role.count is not None and role.count > _size(scenario, name):
                yield f"{key}.count", f"{role.count}, but the group has only {_size(scenario, name)} nodes"
    yield from _everyone(scenario)
    yield from _topics(scenario)
    yield from _documents(scenario)
    if workload.zones is None:
        for name, publishing in workload.publish.items():
            if publishing.content in ("each-zone", "random-zone"):
                yield (
                    f"workload.publish.{name}.content",
                    "there are no zones; add workload.zones or a template",
                )
        for name, subscribing in workload.subscribe.items():
            if subscribing.interest == "zone":
                yield (
                    f"workload.subscribe.{name}.interest",
                    "there are no zones; add workload.zones or filters",
                )
            elif subscribing.locality > 0 and subscribing.common is None:
                yield f"workload.subscribe.{name}.common", "without zones, locality needs a common filter"
        for name, requesting in workload.request.items():
            if requesting.interest == "zone":
                yield f"workload.request.{name}.interest", "there are no zones; add workload.zones or filters"


def _everyone(scenario: Scenario) -> Iterator[tuple[str, str]]:
    workload = scenario.workload
    for verb, groups in (
        ("publish", list(workload.publish)),
        ("subscribe", list(workload.subscribe)),
        ("request", list(workload.request)),
    ):
        if EVERYONE in groups and len(groups) > 1:
            yield f"workload.{verb}.*", "`*` already includes every node; remove `*` or the other groups"


def _documents(scenario: Scenario) -> Iterator[tuple[str, str]]:
    missing = 'documents need event types; add schema = "FILE.xsd" to [workload]'
    for name, publishing in scenario.workload.publish.items():
        if isinstance(publishing.content, Documents) and not scenario.workload.schemas:
            yield f"workload.publish.{name}.content", missing


def _topics(scenario: Scenario) -> Iterator[tuple[str, str]]:
    if scenario.workload.topics is not None:
        return
    missing = "there are no topics; add workload.topics = { count = 20 }"
    for name, publishing in scenario.workload.publish.items():
        if publishing.content == "own-topics":
            yield f"workload.publish.{name}.content", missing
    for name, requesting in scenario.workload.request.items():
        if requesting.interest == "topic":
            yield f"workload.request.{name}.interest", missing


def _faults(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for name, faults in scenario.faults.items():
        key = f"faults.{name}"
        struck = len(faults.nodes)
        if faults.group is not None:
            if faults.group not in scenario.groups:
                hint = nearest(faults.group, scenario.groups)
                yield f"{key}.group", f"no group of nodes has this name; {hint}"
                continue
            struck = faults.count or scenario.groups[faults.group].count
            if struck > scenario.groups[faults.group].count:
                yield (
                    f"{key}.count",
                    f"{struck}, but the group has only {scenario.groups[faults.group].count} nodes",
                )
        for node in faults.nodes:
            if node >= scenario.count:
                yield f"{key}.nodes", f"node {node} is outside the range 0 to {scenario.count - 1}"
        for kind, outages in (("crash", faults.crash), ("radio", faults.radio)):
            if outages is None:
                continue
            each = float(len(outages.at))
            if outages.every is not None and outages.down is not None:
                each += scenario.duration / (outages.every + outages.down) + 1
            if each * struck > MOST_FAULTS:
                yield f"{key}.{kind}.every", f"more than {MOST_FAULTS} outages; use a longer interval"


def _protocols(scenario: Scenario, context: Any) -> Iterator[tuple[str, str]]:
    from roamcast.routing import catalogue
    from roamcast.routing.profiles import with_profile

    for name, parameters in scenario.protocols.items():
        try:
            router = catalogue.find(name)
        except UserError as error:
            yield f"protocol.{name}", str(error)
            continue
        kind = router.parameters_type
        try:
            kind.model_validate(with_profile(router, parameters), context=context)
        except UserError as error:
            yield f"protocol.{name}.profile", str(error)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(["protocol", name, *map(str, first["loc"])])
            if first["type"] == "extra_forbidden":
                yield (
                    key,
                    f"unknown parameter; {nearest(str(first['loc'][-1]), [*kind.model_fields, 'profile'])}",
                )
            else:
                yield key, first["msg"].removeprefix("Value error, ")
