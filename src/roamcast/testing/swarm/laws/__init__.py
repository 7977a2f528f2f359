"""The laws, one per file: each checks a record and returns a description of the violation, or None.

The laws hold for every protocol, depending on the traits that it declares (`Router.traits`). To add a law,
write its file and add a line to `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from roamcast.testing.swarm.laws import (
    dead_nodes_silent,
    delivered_in_order,
    delivered_once,
    delivered_when_healed,
    deterministic,
    frames_accounted,
    no_broadcast_storm,
    no_exception,
    no_silent_drop,
    only_published_delivered,
    only_subscribed_delivered,
    quiescent,
    sent_until_acknowledged,
    tables_bounded,
    timers,
    undisturbed,
)
from roamcast.testing.swarm.record import SwarmRecord

Law: TypeAlias = Callable[[SwarmRecord], str | None]

LAWS: dict[str, Law] = {
    "unbroken": no_exception.check,
    "calm": no_broadcast_storm.check,
    "timers": timers.check,
    "repeated": deterministic.check,
    "alive": dead_nodes_silent.check,
    "accounted": frames_accounted.check,
    "conserved": no_silent_drop.check,
    "bounded": tables_bounded.check,
    "published": only_published_delivered.check,
    "wanted": only_subscribed_delivered.check,
    "once": delivered_once.check,
    "ordered": delivered_in_order.check,
    "promised": delivered_when_healed.check,
    "undisturbed": undisturbed.check,
    "acknowledged": sent_until_acknowledged.check,
    "silent": quiescent.check,
}
"The laws by name; a violation of one of the first often causes violations of later ones."
