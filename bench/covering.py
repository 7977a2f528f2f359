"""What a new subscription costs a CBR router that holds many, beside computing the whole cover again for it.

`python -m bench.covering [PATTERNS...]`; times are of the processor. Goal: under 0.2 ms a new subscription
at 4,000 patterns.
"""

import gc
import sys
from collections.abc import Callable
from functools import partial
from random import Random
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.loads import QUOTE, SYNTHETIC, Realistic, synthetic_event, synthetic_filter
from roamcast.content.covering import RelationCache
from roamcast.content.covering.relations import MEMORY
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Subscription
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.testing import Mesh

EVENTS = 200
PUBLISHER, BROKER, CHILD = range(3)

Load = tuple[Callable[[Random], Filter], Callable[[Random], Event]]


def distinct(make: Callable[[Random], Filter], r: Random, count: int) -> list[Filter]:
    """So many filters, all different."""
    found: dict[Filter, None] = {}
    while len(found) < count:
        found[make(r)] = None
    return list(found)


def broker(patterns: list[Filter]) -> Mesh:
    """A publisher, a broker and its child, which has asked for all the patterns."""
    parameters = CbrParameters(covering=True, subscriptions=2 * len(patterns))
    mesh = Mesh.line(3, partial(Cbr, parameters=parameters))
    for type in (SYNTHETIC, QUOTE):
        mesh.advertise(PUBLISHER, Filter.everything(type))
    mesh.run(for_=0.1)
    for pattern in patterns:
        mesh.inject(BROKER, Subscription(pattern), sender=CHILD)
    return mesh


def measure(name: str, load: Load, count: int) -> list[str]:
    make_filter, make_event = load
    r = Random(f"{name}/{count}")
    more = max(4, min(200, count // 10))
    patterns = distinct(make_filter, r, count + more)
    events = [make_event(r) for _ in range(EVENTS)]
    held, new = patterns[:count], patterns[count:]
    mesh = broker(held)
    router = mesh.routers[BROKER]
    assert isinstance(router, Cbr)
    router.renew(mesh.now, router.adverts.routes(mesh.now))
    gc.collect()
    gc.freeze()

    start = process_time()
    for pattern in new:
        mesh.inject(BROKER, Subscription(pattern), sender=CHILD)
    each = (process_time() - start) / more

    start = process_time()
    router.renew(mesh.now, router.adverts.routes(mesh.now))
    renewal = process_time() - start

    start = process_time()
    found = [router.subscriptions.matching(event, mesh.now) for event in events]
    match = (process_time() - start) / EVENTS

    relations = RelationCache()
    if count**2 < MEMORY:
        relations.minimal_cover(held)  # a router would remember
    start = process_time()
    cover = relations.minimal_cover(held)
    again = process_time() - start
    loops = events[:20]
    for pattern in patterns:
        pattern.matches(events[0])  # compiles it, once
    start = process_time()
    for event, children in zip(loops, found, strict=False):
        assert bool([pattern for pattern in patterns if pattern.matches(event)]) == bool(children)
    loop = (process_time() - start) / len(loops)
    gc.unfreeze()
    return [
        name,
        f"{count:,}",
        f"{len(cover):,}",
        f"{1000 * each:.3f} ms",
        f"{1000 * again:,.1f} ms",
        f"{again / each:,.0f}",
        f"{1000 * renewal:.1f} ms",
        f"{1e6 * match:.1f} µs",
        f"{loop / match:.1f}",
    ]


def main() -> None:
    realistic = Realistic(1)
    loads: dict[str, Load] = {
        "synthetic": (synthetic_filter, synthetic_event),
        "realistic": (realistic.filter, realistic.event),
    }
    table = Table(title="a broker with many subscriptions, covering on")
    for column in (
        "load",
        "patterns",
        "cover",
        "new subscription",
        "whole cover again",
        "ratio",
        "renewal",
        "who wants an event",
        "ratio to asking each",
    ):
        table.add_column(column, justify="left" if column == "load" else "right")
    for count in [int(text) for text in sys.argv[1:]] or [10, 100, 400, 4000]:
        for name, load in loads.items():
            table.add_row(*measure(name, load, count))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
