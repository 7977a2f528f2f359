"""Known answers of content: what its rules of thumb make of some subscriptions that are drawn from a seed.

How filters are grouped, what stands for a group, and what a summary gives up first is judgement, for which no
law is strict enough: here is what it comes to, number by number.
"""

from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from random import Random
from typing import Any

from roamcast.content.covering import MinimalCover
from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover, share
from roamcast.content.grouping.cluster import FilterCluster, cost, least_constrained
from roamcast.content.grouping.features import cluster_count, vectors
from roamcast.content.grouping.graph import SubscriptionGraph, graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.hull import hull, union
from roamcast.content.grouping.incremental import METHODS, make_incremental
from roamcast.content.grouping.kmeans import kmeans_groups
from roamcast.content.grouping.partition import event_space_groups, signature, signature_groups
from roamcast.content.grouping.sample import sample_events
from roamcast.content.schema import EventType
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.false_positives import FalsePositiveSample
from roamcast.content.summary.fitting import coarsenings, within
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.summary.summary import join_rows

CD = EventType(
    "CD",
    {
        "year": Integer(1950, 2010),
        "price": Decimal(),
        "title": String(),
        "artist": String(),
        "genre": Enumeration(("pop", "jazz", "rock", "folk", "blues")),
        "live": Boolean(),
    },
    optional=("price", "live"),
)
NOTE = EventType("note", {"zone": Integer(), "text": String()}, optional=("text",))
WORDS = ("Kind of Blue", "Blue Train", "So What", "Blue in Green", "Naima", "Kind", "Time Out", "Take Five")
COUNT = 36


def filters(seed: int = 1) -> list[Filter]:
    """Subscriptions such as people make: ranges, words, beginnings, several at once, some of them twice."""
    random = Random(f"answers/{seed}")
    found = []
    for _ in range(COUNT):
        low = random.randrange(1950, 2000)
        word = random.choice(WORDS)
        parts = random.sample(
            [
                (CD.year >= low) & (CD.year <= low + random.randrange(30)),
                CD.year != low,
                CD.price < random.choice((5, 10, 19.5, 40)),
                (CD.price > 12) | (CD.year == low),
                CD.title == word,
                CD.title.startswith(word[: random.randrange(1, 5)]),
                CD.title.contains(word[2:4]),
                CD.artist.endswith(random.choice(("Davis", "Evans", "vans", "Coltrane"))),
                CD.genre == random.choice(("pop", "jazz", "rock")),
                CD.genre != "folk",
                CD.live == random.choice((True, False)),
            ],
            random.choice((1, 1, 2, 2, 3)),
        )
        wanted = parts[0]
        for part in parts[1:]:
            wanted &= part
        found.append(wanted)
    found += random.sample(found, 4)
    for _ in range(8):
        zone = random.randrange(40)
        each = (NOTE.zone >= zone) & (NOTE.zone < zone + random.choice((1, 3, 20)))
        found.append(each if random.random() < 0.6 else each & NOTE.text.startswith(random.choice("abc")))
    return found


def events(seed: int = 1) -> list[Event]:
    """Events around them."""
    return sample_events(filters(seed), 120, seed)


def number(value: float) -> float:
    """As it is known: nine digits."""
    return float(f"{float(value):.9g}")


def told(groups: list[FilterCluster]) -> Any:
    """Who is together, and under what filter; and what that costs."""
    wanted = filters()
    spent = cost(groups, wanted, events())
    return [[[*group.members], str(group.filter)] for group in groups], number(spent.noise)


def follow_by(method: str) -> Callable[[], Any]:
    """Filters come and go under a method; what is left in the end, and after each tenth change."""

    def play() -> Any:
        random = Random(f"answers/{method}")
        wanted, following = dict(enumerate(filters(2))), make_incremental(method, 5)
        seen: list[Any] = []
        for step, key in enumerate(
            random.sample(sorted(wanted), len(wanted)) + random.sample(range(COUNT), 20)
        ):
            if step < len(wanted):
                following.add(key, wanted[key])
            else:
                following.remove(key)
            if step % 12 == 11:
                for event in events(2)[step : step + 3]:
                    following.trigger(event)
                seen.append(sorted(str(each) for each in following.groups(CD)))
        return [sha256("\n".join(each).encode()).hexdigest()[:12] for each in seen] + seen[-1:]

    return play


def summaries() -> Any:
    """How large and how choosy summaries of several sizes are, and their bytes."""
    wanted, met = filters(), events()
    found = []
    for limit in (128, 400):
        best, plain = within(wanted, limit), Summary.of(wanted, BloomShape(1024, 3))
        blind = Summary.from_bytes(plain.to_bytes(limit))
        for summary in (best, blind):
            data = summary.to_bytes()
            admitted = sum(map(summary.admits, met))
            found.append([limit, len(data), admitted, sha256(data).hexdigest()[:12]])
    return found


def weights() -> Any:
    """What summaries are held to let in, by both judges, and what each way to make one coarser would cost."""
    wanted = filters()
    start = Summary.of(wanted, BloomShape(512, 2), apart=True)
    knowing, blind, strangers = Selectivity(wanted), Selectivity(), FalsePositiveSample(wanted)
    found: list[list[float]] = [
        [len(each.to_bytes()), *(number(judge.weight(each)) for judge in (knowing, blind, strangers))]
        for each in (start, *coarsenings(start))
    ]
    for name, rows in start.rows.items():
        for one, other in pairwise(rows):
            joined = join_rows(one, other)
            found.append([number(judge.loss(name, (one, other), joined)) for judge in (knowing, strangers)])
        for place, part in (each for row in rows for each in row.items()):
            found.append([number(judge.part(name, place, part)) for judge in (knowing, blind)])
    return found


def covers() -> Any:
    """Minimal covers while filters come and go, hulls and unions of neighbours, and tight covers."""
    wanted = [each for each in filters(3) if each.type is CD]
    cover = MinimalCover(wanted)
    for each in wanted[::3]:
        cover.discard(each)
    several = [wanted[n : n + 4] for n in range(0, 24, 4)]
    return [
        [str(each) for each in cover.minimal()],
        [str(hull(each)) for each in several],
        [str(union(each, 3)) for each in several],
        [str(BoundedCover.of(each, 3)) for each in several],
        [number(share(CD, part)) for each in wanted for part in each.conjunctions],
    ]


def features() -> Any:
    """Where filters lie, and what they are signed with."""
    wanted = [each for each in filters(4) if each.type is CD]
    return [
        cluster_count(wanted),
        [signature(each) for each in wanted],
        [[number(value) for value in row] for row in vectors(wanted)[::5]],
        SubscriptionGraph(wanted).to_text().splitlines(),
    ]


def digests() -> Any:
    """What stands for events in a join request, in bytes."""
    return [EventDigest.of(event).to_bytes().hex() for event in events(5)[::10]]


ANSWERS: dict[str, Callable[[], Any]] = {
    "least": lambda: told(least_constrained(filters())),
    "graph": lambda: told(graph_groups(filters())),
    "kmeans": lambda: told(kmeans_groups(filters(), 6)),
    "agglomerative": lambda: told(agglomerative_groups(filters(), 6)),
    "divisive": lambda: told(divisive_groups(filters(), 6)),
    "signature": lambda: told(signature_groups(filters(), 6)),
    "event space": lambda: told(event_space_groups(filters(), 6)),
    **{f"follow by {method}": follow_by(method) for method in METHODS},
    "summaries": summaries,
    "weights": weights,
    "covers": covers,
    "features": features,
    "digests": digests,
}
