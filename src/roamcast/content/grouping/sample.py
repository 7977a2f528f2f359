"""Generated events that resemble subscriptions, to estimate costs without real events."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roamcast.content.errors import FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.filter import Filter


def sample_events(filters: Sequence[Filter], count: int = 1000, seed: int = 0) -> list[Event]:
    """Return generated events that match some filter, with some values replaced by those for other
    filters.
    """
    random = Random(f"sample/{seed}")
    by_type: dict[str, list[Event]] = {}
    for filter in filters:
        for conjunction in filter.conjunctions:
            try:
                example = Filter(filter.type, (conjunction,)).example()
            except FilterTooComplex:
                continue  # another conjunction provides examples
            if example is not None:
                by_type.setdefault(filter.type.name, []).append(example)
    examples = [event for events in by_type.values() for event in events]
    found = []
    for _ in range(count if examples else 0):
        event = random.choice(examples)
        others = by_type[event.type.name]
        values = [
            random.choice(others).values[place] if random.random() < 0.4 else value
            for place, value in enumerate(event.values)
        ]
        found.append(Event(event.type, tuple(values)))
    return found
