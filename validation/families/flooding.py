"""Flooding beside ns-2: in the district and in the field, at walking and at driving speed."""

from __future__ import annotations

from functools import partial

from validation import grounds, ns2, ours
from validation.ns2 import Send
from validation.plan import DELAY, DELIVERY, FAST, RECEPTIONS, SENDS, Topic
from validation.row import Contest, Row

TEXT = """\
The same movement file and the same schedule of 512 B publications for both; waits of up to 10 ms before a
repetition. A row is many movements at which nobody had looked before (30 here, 80 in bursts, 30 in the
field), one run a side on each; the interval is that of the paired differences. District: 51 nodes on 1000 x
500 m at up to 1 m/s, 2 Mb/s (broadcasts at 1 Mb/s); one flood every 0.3125 s, for 60 s. Transmissions are
counted where the router (the agent) sends; receptions are copies decoded, duplicates included."""

BURSTS_TEXT = """\
The same district, eight floods at once every 2.5 s, for 100 s: a great deal collides, and a single run's
delivery scatters by 0.03.

What had to be set right before the numbers agreed: ns-2's `Prefer_Routing_Protocols` must be 0 *before* the
nodes are made, or its queue is not first in, first out. The generator of the agents' waits needs a seed of
its own, or it repeats the backoffs of the link. Delays on the air are rounded up: rounded down, a detour
could be shorter than the straight way, and stations lost backoff slots. And time had to be counted in
picoseconds: in nanoseconds (30 cm of light) stations tied that in ns-2 do not, and bursts delivered 0.02
less (decision 0115)."""

FIELD_TEXT = """\
200 nodes at 140/km² and up to 3 m/s, ten publishers of 0.5/s each, 11 Mb/s, 10 s. Now and then a flood dies
at its first hop, where nobody repeats what nobody heard: each costs two percent of a run's delivery, and
the two sides lose different ones."""

FAST_TEXT = """\
The district as above, but everyone walks at 1 to 20 m/s without a pause; 40 s. (ns-2 looks up who is near by
positions up to a second old, with 5 m to spare: beyond 5 m/s it overlooks some nodes at the rim of carrier
sense, 550 m away.)"""

FIRST_TEXT = """\
Movement 1, which earlier pages left out because its shop is out of reach nine tenths of the time; bursts as
above for 40 s, sixty runs a side on this one movement. Only delivery is compared: the few floods
that leave the shop decide everything else."""

NEWEST_TEXT = """\
Bursts with ns-2's queue as it comes (`Prefer_Routing_Protocols 1`): packets of message agents are put at
its head, the latest first. Ours with `mac.priority = ["event"]` and `mac.newest_first`; 40 s."""


def evenly(seconds: float, _: int) -> list[Send]:
    """One flood every 0.3125 s."""
    return grounds.evenly(seconds, 0.3125)


def in_bursts(seconds: float, _: int) -> list[Send]:
    """Eight floods at once every 2.5 s."""
    return grounds.in_bursts(seconds, 2.5, 8)


def by_ten(seconds: float, seed: int) -> list[Send]:
    """Ten of two hundred nodes publish, 0.5/s each."""
    return grounds.by_many(seconds, 10, 0.5, 200, seed)


row = partial(Row, contest=Contest(ours.flood, ns2.flood), quantities=(DELIVERY, SENDS, RECEPTIONS, DELAY))

EVEN = row("even", grounds.district, 60, evenly, 5001, 30)
BURSTS = row("bursts of 8", grounds.district, 100, in_bursts, 5101, 80)
FIELD = row("field of 200", grounds.field, 10, by_ten, 5201, 30, options={"rates": FAST})
FAST_DISTRICT = row("even, 1 to 20 m/s", grounds.driving, 40, evenly, 5301, 20)
FIRST = row(
    "movement 1, bursts of 8", grounds.district, 40, in_bursts, 5401, 60, movement=1, quantities=(DELIVERY,)
)
NEWEST_FIRST = row(
    "bursts of 8, newest first", grounds.district, 40, in_bursts, 5501, 80, options={"newest_first": True}
)

TOPICS = (
    Topic("Flooding in the district, evenly", "ns-2", TEXT, EVEN.measure),
    Topic("Flooding in the district, in bursts", "ns-2", BURSTS_TEXT, BURSTS.measure),
    Topic("Flooding in a field of 200 nodes", "ns-2", FIELD_TEXT, FIELD.measure),
    Topic("Flooding at up to 20 m/s", "ns-2", FAST_TEXT, FAST_DISTRICT.measure),
    Topic("Flooding from a shop out of reach", "ns-2", FIRST_TEXT, FIRST.measure),
    Topic("Flooding with ns-2's own queue", "ns-2", NEWEST_TEXT, NEWEST_FIRST.measure),
)
