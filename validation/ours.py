"""Running our own kernel on the same ground and traffic as the rivals, and counting the same things."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import roamcast
from roamcast import _kernel
from roamcast.api.runs import name_protocol
from roamcast.routing.router import Category
from roamcast.scenario.model import Scenario
from roamcast.scenario.traces.movement import write_ns2
from roamcast.sim import kernel
from validation.link_calls import counted
from validation.ns2 import FEED, RATES, Ground, Outcome, Send

PLAIN_LINK: Mapping[str, Any] = {}
NS2_LINK: Mapping[str, Any] = {"arp": True, "newest_first": True}
"Settings of our link that follow ns-2's, by default."


def lay_out(scenario: Scenario, seed: int, folder: Path) -> Ground:
    """Write the movement that `scenario` generates to a file that ns-2 reads, and we as well."""
    path = folder / f"{scenario.name}-{seed}.mov"
    with path.open("w") as file:
        write_ns2(kernel.movement(scenario, seed), file)
    return Ground(scenario.count, scenario.area.width, scenario.area.height, scenario.duration, path)


def flood(
    ground: Ground,
    sends: list[Send],
    seed: int,
    *,
    jitter: float = 0.01,
    rates: tuple[float, float] = RATES,
    newest_first: bool = False,
) -> Outcome:
    """Flood each publication to everyone; `rates` are those of data and of broadcasts, in b/s."""
    rows = [(s, "") for s in sends]
    link = {"priority": ["event"], "newest_first": True} if newest_first else {}
    return _run(
        ground, rows, ["/news"], "flooding", seed, protocol={"jitter": jitter}, rates=rates, link=link
    )


def unicast(
    ground: Ground,
    sends: list[Send],
    seed: int,
    *,
    protocol: Mapping[str, Any],
    since: float = 0.0,
    routing: str = "dsdv",
    rates: tuple[float, float] = RATES,
    link: Mapping[str, Any] = NS2_LINK,
) -> Outcome:
    """Send each publication to each of its receivers; count from `since` on, messages where the router hands
    them to the link, as ns-2's trace does."""
    router = counted(routing)
    router.calls.reset(since)
    outcome = _run(
        ground,
        [(s, f"{'-'.join(map(str, s.receivers))}") for s in sends],
        None,
        name_protocol(router),
        seed,
        protocol=dict(protocol),
        since=since,
        rates=rates,
        link=link,
    )
    calls = router.calls.by_category
    return replace(outcome, transmissions=sum(calls.values()), routing=calls.get(Category.ROUTING, 0))


def _run(
    ground: Ground,
    rows: list[tuple[Send, str]],
    interest: list[str] | None,
    protocol_name: str,
    seed: int,
    *,
    protocol: dict[str, Any],
    since: float = 0.0,
    rates: tuple[float, float] = RATES,
    link: Mapping[str, Any] = PLAIN_LINK,
) -> Outcome:
    """Play a schedule whose second column of each row names the receivers, if not everyone is meant."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = ["time,publisher,size,type" + (",receivers" if interest is None else "")]
        lines += [
            f"{s.time!r},{s.publisher},{s.size},news" + (f",to-{who}-" if who else "") for s, who in rows
        ]
        (folder / "schedule.csv").write_text("\n".join(lines) + "\n")
        groups = {"all": {"count": ground.nodes, "mobility": "file"}}
        if interest is None:
            groups = {f"n{node}": {"count": 1, "mobility": "file"} for node in range(ground.nodes)}
        subscribe: dict[str, Any] = {"all": {"interest": interest}}
        if interest is None:
            wanted = sorted({receiver for s, _ in rows for receiver in s.receivers})
            subscribe = {f"n{node}": {"interest": [f"/news[receivers = '*-{node}-*']"]} for node in wanted}
        scenario = Scenario.model_validate(
            {
                "name": "validation",
                "area": {"width": ground.width, "height": ground.height},
                "duration": ground.seconds,
                "warmup": since,
                "nodes": groups,
                "mobility": {"ns2": ground.movement},
                "mac": {"rate": rates[0], "basic_rate": rates[1], **link},
                "workload": {"schedule": folder / "schedule.csv", "subscribe": subscribe},
                "protocol": {protocol_name: protocol},
            }
        )
        result = roamcast.run(scenario, protocol_name, seed)
    metrics = result.metrics
    return Outcome(
        delivery=metrics.delivery_rate or 0.0,
        delay=metrics.delay_mean or float("nan"),
        median=metrics.delay_p50 or float("nan"),
        p95=metrics.delay_p95 or float("nan"),
        transmissions=metrics.messages["total"],
        received=metrics.frames.get("received", 0),
        routing=metrics.messages["routing"],
        cpu_seconds=metrics.cpu_seconds or 0.0,
        drops={**metrics.drops, **{k: v for k, v in metrics.frames.items() if v}},
    )


class _Load:
    """What a saturated station sends."""

    category = 0
    publication_id = -1
    flow = 0

    def __init__(self, size: int) -> None:
        self.size = size


class _Station:
    """A station that always has something to send: it feeds its queue faster than the air can take it."""

    def __init__(self, host: _kernel.Host, load: _Load, to: int | None, every: float) -> None:
        self.host, self.load, self.to, self.every = host, load, to, every
        self.received = 0
        self.counting = False

    def feed(self) -> None:
        if self.to is None:
            self.host.broadcast(self.load)
        else:
            self.host.send(self.load, self.to)
        self.host.call_later(self.every, self.feed)

    def receive(self, message: Any, sender: int, signal: float) -> None:
        self.received += self.counting

    def overhear(self, message: Any, sender: int, to: int, signal: float) -> None:
        """Heard, but not counted."""

    def link_failed(self, message: Any, to: int) -> None:
        """Given up, and so not received."""


def cell(
    stations: int,
    seconds: float,
    seed: int,
    *,
    payload: int,
    broadcast: bool,
    rts: bool,
    senders: int = 0,
    capture: float = 120,
) -> float:
    """Frames a second that get through in a saturated cell; a capture of 120 dB is none."""
    circle = [
        (50 + 10 * cos(2 * pi * k / stations), 50 + 10 * sin(2 * pi * k / stations)) for k in range(stations)
    ]
    scenario = Scenario.model_validate(
        {
            "name": "cell",
            "area": {"width": 100, "height": 100},
            "duration": seconds,
            "nodes": {"all": {"count": stations, "at": circle}},
            "radio": {"capture": capture},
            "mac": {"rts_threshold": 0 if rts else 3000},
        }
    )
    world = kernel.build(scenario, seed)
    world.start()
    load = _Load(payload)
    every = 0.001 * max(senders or stations, 1)
    members = []
    for node in range(stations):
        to = None if broadcast else (node + 1) % stations
        member = _Station(_kernel.Host(world, node), load, to, every)
        world.attach(node, member)
        members.append(member)
    for member in members[: senders or stations]:
        member.feed()
    warmup = 1.0
    world.run_until(warmup)
    for member in members:
        member.counting = True
    world.run_until(warmup + seconds)
    world.close()
    received = sum(member.received for member in members)
    return received / seconds / ((stations - 1) if broadcast else 1)


class _Relay:
    """Passes what comes along a flow's path on; counts it at the end."""

    def __init__(self, host: _kernel.Host, node: int, paths: list[list[int]], since: float) -> None:
        self.host, self.node, self.paths, self.since = host, node, paths, since
        self.arrived = [0] * len(paths)

    def feed(self, load: _Load) -> None:
        self.host.send(load, self.paths[load.flow][1])
        self.host.call_later(FEED, self.feed, load)

    def receive(self, message: _Load, sender: int, signal: float) -> None:
        path = self.paths[message.flow]
        place = path.index(self.node)
        if place + 1 < len(path):
            self.host.send(message, path[place + 1])
        elif self.host.now() >= self.since:
            self.arrived[message.flow] += 1

    def overhear(self, message: Any, sender: int, to: int, signal: float) -> None:
        """Heard, but not counted."""

    def link_failed(self, message: Any, to: int) -> None:
        """Given up, and so not received."""


def flows(
    places: list[tuple[float, float]],
    paths: list[list[int]],
    seconds: float,
    seed: int,
    *,
    rts: int = 0,
    rates: tuple[float, float] = RATES,
) -> list[float]:
    """Packets a second at the end of each path, along which a saturated flow of 512 B goes."""
    warmup = 1.0
    scenario = Scenario.model_validate(
        {
            "name": "flows",
            "area": {"width": max(x for x, _ in places) + 1, "height": max(y for _, y in places) + 1},
            "duration": warmup + seconds,
            "nodes": {"all": {"count": len(places), "at": places}},
            "mac": {"rts_threshold": rts, "rate": rates[0], "basic_rate": rates[1], "arp": True},
        }
    )
    world = kernel.build(scenario, seed)
    world.start()
    relays = [_Relay(_kernel.Host(world, node), node, paths, warmup) for node in range(len(places))]
    for node, relay in enumerate(relays):
        world.attach(node, relay)
    for flow, path in enumerate(paths):
        load = _Load(512)
        load.flow = flow
        relays[path[0]].host.call_later(0.01 + 0.0003 * flow, relays[path[0]].feed, load)
    world.run_until(warmup + seconds)
    world.close()
    return [relays[path[-1]].arrived[flow] / seconds for flow, path in enumerate(paths)]
