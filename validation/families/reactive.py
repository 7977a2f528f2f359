"""AODV and DSR beside ns-2's, on the same movement and traffic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from roamcast.routing.unicast.aodv.parameters import NS2 as AODV
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR
from validation import grounds, ns2, ours
from validation.plan import FAST, Quantity, Topic
from validation.row import Contest, Row, measure_all

TEXT = """\
Copies of 512 B, as for DSDV in the district; in the field of 200 nodes at 140/km² ten nodes send one every
two seconds on average to one of four receivers, at 11 Mb/s, 100 s. Ours follows the mapping `NS2` of its
parameters and asks by ARP as ns-2 does. The packets of ns-2 are those of CBR sources: plain UDP is not data
to its AODV, which then drops it when a link fails. Routing messages are counted at every hop, where the
router hands them to the link, whether or not ARP lets them go any further (decision 0118). One flood more or
less is fifty messages in the district, and single runs differ by half, so sixty movements make a row
there and twenty in the field."""

DSR_TEXT = """\
The same, with flow state on both sides. Most routing messages in the field are replies from caches: each
neighbour that knows a way answers at once, and ARP loses one of sixteen. Pages before this one counted only
what went on the air, 4 % fewer; what DSR does after a failed link was another part of the difference that
they showed (decisions 0118 and 0197)."""

QUANTITIES = (
    Quantity("delivery", lambda o: o.delivery, 0.05, False),
    Quantity("routing messages", lambda o: o.routing, 0.20, True),
    Quantity("median delay, s", lambda o: o.median, 0.20, True),
)


class Reactive(NamedTuple):
    """A protocol by ns-2's name, with the parameters and the link that follow ns-2's."""

    name: str
    parameters: Mapping[str, Any]
    link: Mapping[str, Any]


PROTOCOLS = (
    Reactive("AODV", AODV, {"arp": True, "newest_first": True}),
    # ns-2's queue for DSR keeps the order of preferred packets, that for others turns it round.
    Reactive("DSR", DSR, {"arp": True}),
)


def rows(protocol: Reactive) -> tuple[Row, ...]:
    """A protocol in the district and in the field."""
    name, parameters, link = protocol
    contest = Contest(
        partial(ours.unicast, protocol=parameters, routing=name.lower(), link=link),
        partial(ns2.unicast, feedback=False, routing=name),
    )
    row = partial(Row, contest=contest, quantities=QUANTITIES)
    return (
        row(f"{name}, to all at once", grounds.district, 300, grounds.to_all, 6301, 60, settling=0.25),
        row(f"{name}, in turns", grounds.district, 300, grounds.in_turns, 6401, 60, settling=0.25),
        row(
            f"{name}, field of 200", grounds.field, 100, grounds.one_to_one, 6501, 20, options={"rates": FAST}
        ),
    )


AODV_ROWS, DSR_ROWS = map(rows, PROTOCOLS)

AODV_TOPICS = (Topic("AODV", "ns-2", TEXT, measure_all(*AODV_ROWS)),)
DSR_TOPICS = (Topic("DSR", "ns-2", DSR_TEXT, measure_all(*DSR_ROWS)),)
