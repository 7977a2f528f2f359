"""DSDV unicast beside ns-2's: in the district, at driving speed, and with two hundred nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roamcast.scenario.model import Scenario
from validation import grounds, ns2, ours
from validation.families.flooding import driving
from validation.ns2 import RATES, Outcome, Send
from validation.plan import FAST, Plan, Quantity, Topic, compare
from validation.report import Check

TEXT = """\
The shop sends 512 B copies to ten walkers over DSDV: one to each of them every 2.5 s, or to one after the
other every 0.3125 s; 120 s, the first quarter not counted; sixty movements a row, thirty at speed. The
median delay is compared, because the mean is that of a few copies that waited seconds for a route. Our link
does what ns-2's does: ARP, and the latest routing message first (`mac.arp`, `mac.newest_first`). Word of
failed links is ignored on both sides, which is ns-2's default: with `use_mac_ 1`, Debian's ns-2 did not
finish the district in ten minutes of CPU, which otherwise takes it one second."""

FAST_TEXT = """\
The same, everyone at 1 to 20 m/s without a pause."""

FIELD_TEXT = """\
200 nodes, ten of which send to four others, 0.5/s each, 11 Mb/s, 50 s; twenty movements. In so short a run
most of what is lost is lost while routes are still being found: messages that waited for a route are
released together, and of five of them ARP keeps one. A table is told in one message however long it is
(`entries_per_update = 1024`), as in ns-2; by our default more than 120 routes are told in two, which counts
as more messages."""

PARAMETERS = {"link_feedback": False, "entries_per_update": 1024}
"As in ns-2: word of failed links is ignored, and a table is one message, however long."

QUANTITIES = (
    Quantity("delivery", lambda o: o.delivery, 0.017, False),
    Quantity("routing messages", lambda o: o.routing, 0.067, True),
    Quantity("median delay, s", lambda o: o.median, 0.067, True),
)


def _to_all(seconds: float, seed: int) -> list[Send]:
    return grounds.copies(seconds, "all", seed)


def _in_turns(seconds: float, seed: int) -> list[Send]:
    return grounds.copies(seconds, "turns", seed)


def _one_to_one(seconds: float, seed: int) -> list[Send]:
    return grounds.one_to_one(seconds, 200, seed)


@dataclass(frozen=True)
class Row:
    """A world, what is said in it, and on how many movements."""

    subject: str
    world: Callable[[float], Scenario]
    seconds: float
    schedule: Callable[[float, int], list[Send]]
    first: int
    "The first seed, of movements and of chance."
    runs: int
    rates: tuple[float, float] = RATES

    def measure(self, plan: Plan) -> Iterator[Check]:
        """Delivery, routing messages and delay, one run a side and movement."""
        scenario = self.world(plan.seconds(self.seconds))
        since = scenario.duration / 4

        def play(seed: int) -> tuple[Outcome, Outcome]:
            ground = ours.lay_out(scenario, seed, plan.folder)
            sends = self.schedule(scenario.duration, seed)
            us = ours.unicast(ground, sends, seed, protocol=PARAMETERS, since=since, rates=self.rates)
            return us, ns2.unicast(ground, sends, seed, feedback=False, since=since, rates=self.rates)

        yield from compare(plan, self.subject, plan.seeds(self.first, self.runs), play, QUANTITIES)


WALKING = (
    Row("to all at once", grounds.district, 120, _to_all, 1601, 60),
    Row("in turns", grounds.district, 120, _in_turns, 1701, 60),
)
DRIVING = Row("in turns, 1 to 20 m/s", driving, 120, _in_turns, 1801, 30)
FIELD = Row("field of 200", grounds.field, 50, _one_to_one, 1901, 20, FAST)


def _walking(plan: Plan) -> Iterator[Check]:
    for row in WALKING:
        yield from row.measure(plan)


TOPICS = (
    Topic("DSDV in the district", "ns-2", TEXT, _walking),
    Topic("DSDV at up to 20 m/s", "ns-2", FAST_TEXT, DRIVING.measure),
    Topic("DSDV in a field of 200 nodes", "ns-2", FIELD_TEXT, FIELD.measure),
)
