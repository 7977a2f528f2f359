"""The laws, one a file: each looks at a record and tells how it is broken, or None.

They hold for every protocol, by what it declares of itself (`Router.traits`). To add one, write its file and
a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from roamcast.testing.swarm.laws import (
    accounted,
    acknowledged,
    alive,
    bounded,
    calm,
    conserved,
    once,
    ordered,
    promised,
    published,
    repeated,
    silent,
    timers,
    unbroken,
    undisturbed,
    wanted,
)
from roamcast.testing.swarm.record import Record

Law: TypeAlias = Callable[[Record], str | None]

LAWS: dict[str, Law] = {
    "unbroken": unbroken.check,
    "calm": calm.check,
    "timers": timers.check,
    "repeated": repeated.check,
    "alive": alive.check,
    "accounted": accounted.check,
    "conserved": conserved.check,
    "bounded": bounded.check,
    "published": published.check,
    "wanted": wanted.check,
    "once": once.check,
    "ordered": ordered.check,
    "promised": promised.check,
    "undisturbed": undisturbed.check,
    "acknowledged": acknowledged.check,
    "silent": silent.check,
}
"By name; what breaks one of the first may well break those after it."
