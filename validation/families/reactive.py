"""AODV and DSR beside ns-2's, on the same movement and traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roamcast.routing.unicast.aodv.parameters import NS2 as AODV
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR
from roamcast.scenario.model import Scenario
from validation import grounds, ns2, ours
from validation.ns2 import RATES, Outcome, Send
from validation.plan import FAST, Plan, Quantity, Topic, compare
from validation.report import Check

TEXT = """\
Copies of 512 B, as for DSDV in the district; in the field of 200 nodes at 140/km² ten nodes send one every
two seconds on average to one of four receivers, at 11 Mb/s, 100 s. Ours follows the mapping `NS2` of its
parameters and asks by ARP as ns-2 does. The packets of ns-2 are those of CBR sources: plain UDP is not data
to its AODV, which then drops it when a link fails. Routing messages are counted at every hop. One flood more
or less is fifty messages in the district, and single runs differ by half, so twenty movements make a row
there and eight in the field."""

DSR_TEXT = """\
The same, with flow state on both sides."""

QUANTITIES = (
    Quantity("delivery", lambda o: o.delivery, 0.05, False),
    Quantity("routing messages", lambda o: o.routing, 0.20, True),
    Quantity("median delay, s", lambda o: o.median, 0.20, True),
)


@dataclass(frozen=True)
class Protocol:
    """A reactive protocol as ns-2 has it."""

    name: str
    parameters: Mapping[str, Any]
    link: Mapping[str, Any]

    def measure(self, plan: Plan) -> Iterator[Check]:
        """Delivery, routing messages and median delay in the district and in the field."""
        for row in ROWS:
            yield from row.measure(plan, self)


@dataclass(frozen=True)
class Row:
    """A world, and what is said in it."""

    subject: str
    world: Callable[[float], Scenario]
    seconds: float
    schedule: Callable[[float, int], list[Send]]
    first: int
    "The first seed, of movements and of chance."
    runs: int
    rates: tuple[float, float] = RATES
    settling: float = 0.25
    "The share of the time that is not counted."

    def measure(self, plan: Plan, protocol: Protocol) -> Iterator[Check]:
        """One run a side and movement."""
        scenario = self.world(plan.seconds(self.seconds))
        common: dict[str, Any] = {"since": self.settling * scenario.duration, "rates": self.rates}

        def play(seed: int) -> tuple[Outcome, Outcome]:
            ground = ours.lay_out(scenario, seed, plan.folder)
            sends = self.schedule(scenario.duration, seed)
            us = ours.unicast(
                ground,
                sends,
                seed,
                protocol=protocol.parameters,
                routing=protocol.name.lower(),
                link=protocol.link,
                **common,
            )
            return us, ns2.unicast(ground, sends, seed, feedback=False, routing=protocol.name, **common)

        seeds = plan.seeds(self.first, self.runs)
        yield from compare(plan, f"{protocol.name}, {self.subject}", seeds, play, QUANTITIES)


def _to_all(seconds: float, seed: int) -> list[Send]:
    return grounds.copies(seconds, "all", seed)


def _in_turns(seconds: float, seed: int) -> list[Send]:
    return grounds.copies(seconds, "turns", seed)


def _one_to_one(seconds: float, seed: int) -> list[Send]:
    return grounds.one_to_one(seconds, 200, seed)


ROWS = (
    Row("to all at once", grounds.district, 300, _to_all, 2301, 20),
    Row("in turns", grounds.district, 300, _in_turns, 2401, 20),
    Row("field of 200", grounds.field, 100, _one_to_one, 2501, 8, FAST, 0.0),
)
PROTOCOLS = (
    Protocol("AODV", AODV, {"arp": True, "newest_first": True}),
    # ns-2's queue for DSR keeps the order of preferred packets, that for others turns it round.
    Protocol("DSR", DSR, {"arp": True}),
)

TOPICS = tuple(
    Topic(protocol.name, "ns-2", text, protocol.measure)
    for protocol, text in zip(PROTOCOLS, (TEXT, DSR_TEXT), strict=True)
)
