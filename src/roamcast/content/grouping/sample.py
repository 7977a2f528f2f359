"""Events around some subscriptions, for a cost where no real events are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roamcast.content.errors import FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.filter import Filter


def sample_events(filters: Sequence[Filter], count: int = 1000, seed: int = 0) -> list[Event]:
    """Events that somebody wants, with some of their values replaced by what others want."""
    random = Random(f"sample/{seed}")
    wanted: dict[str, list[Event]] = {}
    for filter in filters:
        for conjunction in filter.conjunctions:
            try:
                example = Filter(filter.type, (conjunction,)).example()
            except FilterTooComplex:
                continue  # others have one
            if example is not None:
                wanted.setdefault(filter.type.name, []).append(example)
    examples = [event for events in wanted.values() for event in events]
    found = []
    for _ in range(count if examples else 0):
        event = random.choice(examples)
        others = wanted[event.type.name]
        values = [
            random.choice(others).values[place] if random.random() < 0.4 else value
            for place, value in enumerate(event.values)
        ]
        found.append(Event(event.type, tuple(values)))
    return found
