"""Filters drawn from seeds, and everything that content makes of them: forms, bytes, relations, examples.

Laws say what must hold of these; here is what they are, so that a form that is as true but not the one of
yesterday is noticed.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from operator import and_, or_
from random import Random
from typing import Any

from roamcast.content.area_type import AreaType
from roamcast.content.codec import decode_event, encode_event
from roamcast.content.covering import MinimalCover
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover, share
from roamcast.content.grouping.hull import hull, union
from roamcast.content.match import MatchIndex
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.fitting import fit, within
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.time_types import DateTime, Duration
from tests.content import generate

SPOT = EventType(
    "spot",
    (
        Field("@lat", Decimal(-90, 90)),
        Field("@lon", Decimal(-180, 180)),
        Field("near/lat", Decimal(-90, 90), True),
        Field("near/lon", Decimal(-180, 180), True),
        Field("zone", AreaType(), True),
        Field("ring", AreaType("polygon"), True),
        Field("round", AreaType("circle"), True),
    ),
)
LEG = EventType(
    "leg", (Field("from", DateTime()), Field("to", DateTime()), Field("km", Integer(0, 99), True))
)
TRIP = EventType(
    "trip",
    (
        Field("start", DateTime()),
        Field("end", DateTime(), True),
        Field("pause", Duration(), True),
        Field("price", Decimal()),
        Field("limit", Decimal(0, 50), True),
        Field("seats", Integer(0, 9)),
        Field("name", String()),
        Field("other", String(), True),
        Field("sort", Enumeration(("bus", "tram", "ferry"))),
        Field("leg", RecordList(LEG)),
    ),
)
LATS = (-90, -89.5, -45, 0, 0.25, 47, 48.2, 48.3, 89, 90)
LONS = (-180, -179.5, -90, -0.5, 0, 16.2, 16.4, 90, 179, 180)
FAR = (1, 900, 15_000, 120_000, 2_500_000, 9_000_000)
DAYS = ("2026-03-01T00:00:00Z", "2026-03-01T12:30:00+01:00", "2026-03-02T00:00:00.5Z", "1969-12-31T24:00:00Z")
SPANS = ("PT0S", "PT90M", "P1DT2H", "-PT5S", "P1M", "P1Y2M3DT4H5M6.7S")
NAMES = ("a", "ab", "Ab", "é", "Linz", "St. Pölten", "")


OF_LIBRARIES = re.compile(r"(not an? (?:XML|JSON) Schema|not XML|not valid by the schema).*", re.DOTALL)


def told(play: Callable[[], Any]) -> str:
    """What comes of a question; a complaint is an answer, too, without what libraries have to say."""
    try:
        return str(play())
    except ContentError as error:
        return OF_LIBRARIES.sub(r"\1", f"{type(error).__name__}: {error}")


def number(value: float) -> str:
    """As it is known: nine digits."""
    return f"{value:.9g}"


def region(r: Random) -> str:
    """A circle or a box, often at a pole, at the date line, or beside another."""
    lat, lon = r.choice(LATS), r.choice(LONS)
    if r.random() < 0.5:
        return f"circle({lat}, {lon}, {r.choice(FAR)})"
    south, north = sorted((lat, r.choice(LATS)))
    return f"box({south}, {lon}, {north}, {r.choice(LONS)})"


def spot_condition(r: Random, depth: int = 2) -> str:
    """A test of places and areas."""
    roll = r.random()
    if depth and roll < 0.5:
        parts = (spot_condition(r, depth - 1) for _ in range(r.choice((2, 2, 3))))
        return f"({r.choice((' and ', ' and ', ' or ')).join(parts)})"
    if roll < 0.6:
        return f"not({spot_condition(r, 0)})"
    if roll < 0.65:
        return r.choice(("near", "zone", "ring", "@lat>48", "@lon<0", "near/lat=0", "not(round)"))
    what, asked = r.choice((".", "near", "zone", "ring", "round")), "within"
    if what not in (".", "near") and r.random() < 0.5:
        asked = "intersects"
    return f"{asked}({what}, {region(r)})"


def trip_condition(r: Random, depth: int = 2) -> str:
    """A test of times, of words, of two fields."""
    roll = r.random()
    if depth and roll < 0.55:
        parts = (trip_condition(r, depth - 1) for _ in range(r.choice((2, 2, 3))))
        return f"({r.choice((' and ', ' and ', ' or ')).join(parts)})"
    if roll < 0.62:
        return f"not({trip_condition(r, 0)})"
    way = r.choice(("=", "!=", "<", "<=", ">", ">="))
    kinds = {
        "time": lambda: f'{r.choice(("start", "end", "leg/from"))}{way}"{r.choice(DAYS)}"',
        "span": lambda: f'pause{way}"{r.choice(SPANS)}"',
        "pair": lambda: f"{r.choice(('price', 'seats'))}{way}{r.choice(('limit', 'seats'))}",
        "times": lambda: f"start{way}end",
        "words": lambda: f"name{r.choice(('=', '!='))}other",
        "word": lambda: f'name{r.choice(("=", "!="))}"{r.choice(NAMES)}{r.choice(("", "*", "*b", "*b*"))}"',
        "case": lambda: f'{r.choice(("contains", "starts-with"))}(lower-case(name), "{r.choice("aél")}")',
        "number": lambda: f"{r.choice(('price', 'limit', 'seats'))}{way}{r.choice((0, 1, 4.5, 9, 50))}",
        "sort": lambda: f'sort{r.choice(("=", "!="))}"{r.choice(("bus", "tram", "ferry"))}"',
        "leg": lambda: f"leg[km{way}{r.choice((0, 7, 99))} and from{r.choice(('<', '<=', '='))}to]",
        "none": lambda: r.choice(("leg", "not(leg)", "end", "not(pause)", "leg[not(km)]")),
    }
    return kinds[r.choice(sorted(kinds))]()


def drawn(sort: str, seed: int) -> tuple[EventType, list[Filter], list[str]]:
    """Some filters of one type, and the complaints of those that are none."""
    r = Random(f"known/{sort}/{seed}")
    if sort == "any":
        type = generate.any_type(r)
        texts = [generate.xpath(r, type) for _ in range(4)]
    else:
        type, condition = (SPOT, spot_condition) if sort == "spot" else (TRIP, trip_condition)
        texts = [f"/{type.name}[{condition(r)}]" for _ in range(5)]
    found, complaints = [], []
    for text in texts:
        try:
            found.append(Filter.parse(text, type))
        except ContentError as error:
            complaints.append(f"{text}: {error}")
    return type, found, complaints


def example(each: Filter) -> Event | None:
    """An example, if one is found."""
    found: list[Event | None] = []
    told(lambda: found.append(each.example()))
    return found[0] if found else None


def lines(sort: str, seed: int) -> Iterator[str]:
    """Everything that is known of the filters of a seed."""
    _, filters, complaints = drawn(sort, seed)
    yield from complaints
    events: list[Event] = []
    for each in filters:
        yield from alone(each, events)
    for one, other in permutations(filters, 2):
        said = [told(partial(ask, other)) for ask in (one.covers, one.intersects, one.equivalent)]
        yield " ".join(said)
    for n, one in enumerate(filters):
        for other in filters[:n]:
            yield told(partial(and_, one, other))
            yield told(partial(or_, one, other))
            yield told(partial(one.merge, other))
    if filters:
        yield from together(filters, events)


def alone(each: Filter, events: list[Event]) -> Iterator[str]:
    """What is known of a filter; its examples are kept."""
    yield str(each)
    yield each.to_bytes().hex()
    yield told(lambda: f"{each.simplify()} {each.empty}")
    yield told(lambda: ~each)
    for ask in (each.examples, each.counterexamples):
        try:
            events += (found := [event for event, _ in zip(ask(), range(4), strict=False)])
        except ContentError as error:
            yield f"{error}"
            continue
        for event in found:
            data = encode_event(event)
            assert decode_event(data, event.type) == event
            yield f"{event} {event.to_json()} {data.hex()} {EventDigest.of(event).to_bytes().hex()}"
    for part in each.conjunctions:
        yield told(lambda part=part: number(share(each.type, part)))  # type: ignore[misc]


def together(filters: list[Filter], events: list[Event]) -> Iterator[str]:
    """What is known of several: what covers them, sums them up, finds them."""
    index: MatchIndex[int] = MatchIndex()
    for key, each in enumerate(filters):
        index.add(key, each)
    summary = Summary.of(filters)
    for event in events:
        yield f"{index.match(event)} {[each.matches(event) for each in filters]} {summary.admits(event)}"
    yield summary.to_bytes().hex()
    yield number(Selectivity(filters).weight(summary))
    yield told(lambda: [str(each) for each in MinimalCover(filters, few=0).minimal()])
    yield told(lambda: hull(filters))
    yield told(lambda: union(filters, 2))
    yield told(lambda: BoundedCover.of(filters, 2))
    index.remove(0)
    yield f"{[index.match(event) for event in events]}"


def short(sort: str, seed: int) -> Iterator[str]:
    """Summaries of few bytes: what is given up first, down to nothing."""
    _, filters, _ = drawn(sort, seed)
    for limit in (20, 30, 45, 80):
        yield told(lambda limit=limit: within(filters, limit).to_bytes().hex())  # type: ignore[misc]
    yield told(lambda: fit(Summary.of(filters, BloomShape(64, 2)), 24).to_bytes().hex())


COUNTS = {"any": 50, "spot": 16, "trip": 24}
GENERATED: dict[str, Callable[[], list[str]]] = {
    f"{sort} {seed}": lambda sort=sort, seed=seed: list(lines(sort, seed))  # type: ignore[misc]
    for sort, count in COUNTS.items()
    for seed in range(count)
}
GENERATED |= {
    f"short {sort} {seed}": lambda sort=sort, seed=seed: list(short(sort, seed))  # type: ignore[misc]
    for sort, seed in (("any", 3), ("any", 7), ("trip", 2), ("trip", 5))
}
