"""Two event types with every kind of field (places, areas, times, records), and subscriptions drawn for them.

`generate` draws types as well and keeps to plain kinds; these have the kinds whose relations are hardest.
"""

from random import Random

from roamcast.content.area_type import AreaType
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.sample import sample_events
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.time_types import DateTime, Duration

from . import generate

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
SORTS = ("any", "spot", "trip")
LATS = (-90, -89.5, -45, 0, 0.25, 47, 48.2, 48.3, 89, 90)
LONS = (-180, -179.5, -90, -0.5, 0, 16.2, 16.4, 90, 179, 180)
RADII = (1, 900, 15_000, 120_000, 2_500_000, 9_000_000)
DAYS = ("2026-03-01T00:00:00Z", "2026-03-01T12:30:00+01:00", "2026-03-02T00:00:00.5Z", "1969-12-31T24:00:00Z")
SPANS = ("PT0S", "PT90M", "P1DT2H", "-PT5S", "P1M", "P1Y2M3DT4H5M6.7S")
NAMES = ("a", "ab", "Ab", "é", "Linz", "St. Pölten", "")


def region(r: Random) -> str:
    """A circle or a box, often at a pole or at the date line."""
    lat, lon = r.choice(LATS), r.choice(LONS)
    if r.random() < 0.5:
        return f"circle({lat}, {lon}, {r.choice(RADII)})"
    south, north = sorted((lat, r.choice(LATS)))
    return f"box({south}, {lon}, {north}, {r.choice(LONS)})"


def spot_test(r: Random) -> str:
    """A test of a place or of an area."""
    if r.random() < 0.1:
        return r.choice(("near", "zone", "ring", "@lat>48", "@lon<0", "near/lat=0", "not(round)"))
    what = r.choice((".", "near", "zone", "ring", "round"))
    relation = "within" if what in (".", "near") else r.choice(("within", "intersects"))
    return f"{relation}({what}, {region(r)})"


def trip_test(r: Random) -> str:
    """A test of a time, a text, a number, two fields, or records."""
    way, same = r.choice(("=", "!=", "<", "<=", ">", ">=")), r.choice(("=", "!="))
    return r.choice(
        (
            f'{r.choice(("start", "end", "leg/from"))}{way}"{r.choice(DAYS)}"',
            f'pause{way}"{r.choice(SPANS)}"',
            f"{r.choice(('price', 'seats'))}{way}{r.choice(('limit', 'seats'))}",
            f"start{way}end",
            f"name{same}other",
            f'name{same}"{r.choice(NAMES)}{r.choice(("", "*", "*b", "*b*"))}"',
            f'{r.choice(("contains", "starts-with"))}(lower-case(name), "{r.choice("aél")}")',
            f"{r.choice(('price', 'limit', 'seats'))}{way}{r.choice((0, 1, 4.5, 9, 50))}",
            f'sort{same}"{r.choice(("bus", "tram", "ferry"))}"',
            f"leg[km{way}{r.choice((0, 7, 99))} and from{r.choice(('<', '<=', '='))}to]",
            r.choice(("leg", "not(leg)", "end", "not(pause)", "leg[not(km)]")),
        )
    )


def condition(r: Random, test, depth: int = 2) -> str:
    """Tests joined by `and`, `or` and `not`."""
    roll = r.random()
    if depth and roll < 0.5:
        parts = (condition(r, test, depth - 1) for _ in range(r.choice((2, 2, 3))))
        return f"({r.choice((' and ', ' and ', ' or ')).join(parts)})"
    return f"not({test(r)})" if roll < 0.6 else test(r)


def filters(r: Random, sort: str, count: int = 4) -> list[Filter]:
    """Subscriptions of one type; those that the parser refuses (too many alternatives) are left out."""
    if sort == "any":
        type = generate.any_type(r)
        return [generate.filter(r, type) for _ in range(count)]
    type, test = (SPOT, spot_test) if sort == "spot" else (TRIP, trip_test)
    found = []
    for _ in range(count):
        try:
            found.append(Filter.parse(f"/{type.name}[{condition(r, test)}]", type))
        except ContentError:
            continue
    return found


def examples(wanted: Filter, most: int = 3) -> list[Event]:
    """Some events that the filter matches; none if the search for one gives up."""
    try:
        return [event for event, _ in zip(wanted.examples(), range(most), strict=False)]
    except ContentError:
        return []


def events_around(some: list[Filter], count: int = 20, seed: int = 0) -> list[Event]:
    """Events that the filters match, events near those, and events that none matches."""
    certain = [each for each in some if examples(each, 1)]
    return [event for each in some for event in examples(each)] + sample_events(certain, count, seed)
