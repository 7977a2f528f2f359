"""DSDV unicast beside ns-2's: in the district, at driving speed, and with two hundred nodes."""

from __future__ import annotations

from functools import partial

from validation import grounds, ns2, ours
from validation.plan import FAST, Quantity, Topic
from validation.row import Contest, Row, measure_all

TEXT = """\
The shop sends 512 B copies to ten walkers over DSDV: one to each of them every 2.5 s, or to one after the
other every 0.3125 s; 120 s, the first quarter not counted; sixty movements a row, thirty at speed. The
median delay is compared, because the mean is that of a few copies that waited seconds for a route. Our link
does what ns-2's does: ARP, and the latest routing message first (`mac.arp`, `mac.newest_first`). Reports of
failed links are ignored on both sides, which is ns-2's default: with `use_mac_ 1`, Debian's ns-2 did not
finish the district in ten minutes of CPU, which otherwise takes it one second."""

FAST_TEXT = """\
The same, everyone at 1 to 20 m/s without a pause."""

FIELD_TEXT = """\
200 nodes, ten of which send to four others, 0.5/s each, 11 Mb/s, 50 s; forty movements. In so short a run
most of what is lost is lost while routes are still being found: messages that waited for a route are
released together, and of five of them ARP keeps one. Earlier pages showed 0.07 to 0.13 less than ns-2: there,
a node that sends data advertises routes to its receivers as soon as it learns of them, before they have
settled (`advertise_awaited`). A table is advertised in one message however long it is
(`entries_per_update = 1024`), as in ns-2; by our default more than 120 routes are advertised in two, which
counts as more messages."""

PARAMETERS = {
    "link_feedback": False,
    "entries_per_update": 1024,
    "advertise_awaited": True,
    "settle_anew": True,
    "queue_timeout": 0.0,
}
"""As in ns-2: reports of failed links are ignored, a table is one message, awaited routes are advertised at
once, the others settle anew with each fresh number, and messages wait for a route as long as it takes."""

QUANTITIES = (
    Quantity("delivery", lambda o: o.delivery, 0.017, False),
    Quantity("routing messages", lambda o: o.routing, 0.067, True),
    Quantity("median delay, s", lambda o: o.median, 0.067, True),
)


CONTEST = Contest(partial(ours.unicast, protocol=PARAMETERS), partial(ns2.unicast, feedback=False))
row = partial(Row, contest=CONTEST, quantities=QUANTITIES, settling=0.25)

TO_ALL = row("to all at once", grounds.district, 120, grounds.to_all, 5601, 60)
IN_TURNS = row("in turns", grounds.district, 120, grounds.in_turns, 5701, 60)
DRIVING = row("in turns, 1 to 20 m/s", grounds.driving, 120, grounds.in_turns, 5801, 30)
FIELD = row("field of 200", grounds.field, 50, grounds.one_to_one, 8901, 40, options={"rates": FAST})

TOPICS = (
    Topic("DSDV in the district", "ns-2", TEXT, measure_all(TO_ALL, IN_TURNS)),
    Topic("DSDV at up to 20 m/s", "ns-2", FAST_TEXT, DRIVING.measure),
    Topic("DSDV in a field of 200 nodes", "ns-2", FIELD_TEXT, FIELD.measure),
)
