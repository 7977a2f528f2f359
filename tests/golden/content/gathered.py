"""Filters of many sorts gathered: how they are grouped, covered and found while they come and go."""

from collections.abc import Callable, Iterator
from functools import cache
from random import Random

from roamcast.content.covering import MinimalCover
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.cluster import cost, least_constrained
from roamcast.content.grouping.features import cluster_count, vectors
from roamcast.content.grouping.graph import SubscriptionGraph, graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.incremental import METHODS, make_incremental
from roamcast.content.grouping.kmeans import kmeans_groups
from roamcast.content.grouping.partition import event_space_groups, signature, signature_groups
from roamcast.content.grouping.sample import sample_events
from roamcast.content.match import MatchIndex
from roamcast.content.summary import BloomShape, Summary
from roamcast.content.summary.false_positives import FalsePositiveSample
from roamcast.content.summary.selectivity import Selectivity

from .generated import drawn, example, number, told

WAYS: dict[str, Callable[[list[Filter]], object]] = {
    "least": least_constrained,
    "graph": graph_groups,
    "kmeans": lambda filters: kmeans_groups(filters, 4),
    "kmeans, as many as fields": kmeans_groups,
    "agglomerative": lambda filters: agglomerative_groups(filters, 4),
    "divisive": lambda filters: divisive_groups(filters, 4),
    "signature": lambda filters: signature_groups(filters, 4),
    "event space": lambda filters: event_space_groups(filters, 4),
}


@cache
def gathered(sort: str, first: int) -> list[Filter]:
    """Filters of one type that have an example: those of several seeds, some of them twice."""
    drawn_of = (each for seed in range(first, first + 5) for each in drawn(sort, seed)[1])
    found = [each for each in drawn_of if example(each) is not None]
    return [*found, *found[::4]]


def grouped(sort: str, first: int) -> Iterator[str]:
    """Groups by each method, what stands for each, what that costs, and the numbers behind it."""
    filters = gathered(sort, first)
    events = sample_events(filters, 60, first)
    for name, group in WAYS.items():
        groups = group(filters)
        yield f"{name} {[(each.members, str(each.filter)) for each in groups]}"  # type: ignore[attr-defined]
        yield number(cost(groups, filters, events).noise)  # type: ignore[arg-type]
    yield f"{cluster_count(filters)} {[signature(each) for each in filters]}"
    for row in vectors(filters):
        yield " ".join(number(float(value)) for value in row)
    yield SubscriptionGraph(filters).to_text()
    start = Summary.of(filters, BloomShape(256, 2), apart=True)
    for judge in (Selectivity(filters), FalsePositiveSample(filters)):
        yield number(judge.weight(start))
    yield start.to_bytes().hex()


def followed(sort: str, first: int, method: str) -> Iterator[str]:
    """Filters come and go under a method, and events set it off."""
    r = Random(f"followed/{sort}/{first}/{method}")
    filters = gathered(sort, first)
    events = sample_events(filters, 12, first)
    following, there = make_incremental(method, r.choice((None, 3))), set[int]()
    for step in range(3 * len(filters)):
        key = r.randrange(len(filters))
        if key in there and r.random() < 0.6:
            following.remove(key)
            there.discard(key)
        else:
            following.add(key, filters[key])
            there.add(key)
        if step % 5 == 4:
            following.trigger(r.choice(events))
            yield f"{sorted(str(each) for each in following.groups(filters[0].type))}"


def found(sort: str, first: int) -> Iterator[str]:
    """An index and a cover while filters come and go."""
    r = Random(f"found/{sort}/{first}")
    filters = gathered(sort, first)
    events: list[Event] = sample_events(filters, 25, first)
    index: MatchIndex[int] = MatchIndex()
    covers = MinimalCover(few=0), MinimalCover(few=6)
    for step in range(4 * len(filters)):
        key = r.randrange(len(filters))
        if key in index and r.random() < 0.6:
            index.remove(key)
        else:
            index.add(key, filters[key])
        for cover in covers:
            (cover.discard if filters[key] in cover and r.random() < 0.6 else cover.add)(filters[key])
        if step % 6 == 5:
            yield f"{[index.match(event) for event in events]} {len(index)}"
            for cover in covers:
                yield told(lambda cover=cover: [str(each) for each in cover.minimal()])  # type: ignore[misc]
                yield told(lambda cover=cover, key=key: [str(e) for e in cover.covering(filters[key])])  # type: ignore[misc]


PLACES = (("trip", 0), ("trip", 5), ("spot", 0))
GATHERED: dict[str, Callable[[], list[str]]] = {
    **{f"grouped {s} {n}": lambda s=s, n=n: list(grouped(s, n)) for s, n in PLACES},  # type: ignore[misc]
    **{
        f"followed {s} by {m}": lambda s=s, m=m: list(followed(s, 10, m))  # type: ignore[misc]
        for s in ("trip", "spot")
        for m in METHODS
    },
    **{f"found {s} {n}": lambda s=s, n=n: list(found(s, n)) for s, n in PLACES},  # type: ignore[misc]
}
