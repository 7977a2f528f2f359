"""The fast decoder of events against the reference: the same events, and the same errors word for word."""

from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.codec.event_reader import EventReader
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.schema import EventType, Field
from tests.content.drawn import SPOT, TRIP
from tests.content.generate import any_type, event

PADDED = EventType("padded", {"sort": Enumeration((" a", "a", "b"), collapse=True), "note": String()})
FLAT = EventType("flat", tuple(field for field in TRIP.fields if field.path != "leg"))
"A type that the compiled reader reads; with lists it does not."
MIXED = EventType("mixed", {"n": Integer(), "t": String(), "d": Decimal(-1, 1e300)})
SEEDS = st.integers(0, 2**32)


def outcome(decode, data):
    try:
        found = decode(data)
    except ContentError as error:
        return type(error), str(error)
    return repr(found.values)


def agree(type, data):
    expected = outcome(lambda data: decode_event(data, {"x": type}), data)
    for plain in (False, True):
        assert outcome(EventReader({"x": type}, plain=plain).read, data) == expected


def damaged(r, data):
    """The bytes of an event after some damage behind its fingerprint, or other bytes of any length."""
    changed = bytearray(data)
    roll = r.random()
    if roll < 0.2:
        return bytes(changed[: r.randint(0, len(changed))])
    if roll < 0.3:
        return bytes(changed) + r.randbytes(r.randint(1, 3))
    if roll < 0.4:
        return data[:8] + r.randbytes(r.randint(0, 60))
    for _ in range(r.choice((1, 1, 2, 4))):
        if len(changed) > 8:
            place = r.randrange(8, len(changed))
            changed[place] = r.choice((0, 1, 2, 0x7F, 0x80, 0xFF, r.randrange(256)))
            if r.random() < 0.2:
                changed[place:place] = r.choice((b"\x80", b"\x80\x00", b"\x00"))
    return bytes(changed)


@given(SEEDS)
def test_it_decodes_events_of_any_type_as_the_reference_does(seed):
    r = Random(seed)
    type = any_type(r)
    data = encode_event(event(r, type))
    for plain in (False, True):
        assert EventReader({"x": type}, plain=plain).read(data) == decode_event(data, type)
    for _ in range(4):
        agree(type, damaged(r, data))


@given(SEEDS)
def test_it_decodes_times_places_and_areas_as_the_reference_does(seed):
    r = Random(seed)
    spot = {"@lat": r.uniform(-90, 90), "@lon": -0.0, "zone": r.choice(("48.2,16.37 5", None))}
    leg = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00.5Z", "km": r.choice((None, 99))}
    trip = {
        "start": "1969-12-31T24:00:00Z",
        "pause": r.choice((None, "-PT5S")),
        "price": r.uniform(-1e9, 1e9),
        "seats": r.randint(0, 9),
        "name": r.choice(("", "é\n", "\u00ad", "x" * 200)),
        "sort": "tram",
        "leg": [leg] * r.choice((0, 1, 130)),
    }
    flat = {path: value for path, value in trip.items() if path != "leg"}
    for type, values in ((SPOT, spot), (TRIP, trip), (FLAT, flat)):
        data = encode_event(type(values))
        agree(type, data)
        for _ in range(6):
            agree(type, damaged(r, data))


@given(st.sampled_from((SPOT, TRIP, PADDED, FLAT, MIXED)), st.binary(max_size=80))
@example(MIXED, b"\x01\x01a" + b"\x00" * 8)
@example(MIXED, b"\xff" * 8 + b"\x7f\x01a" + b"\x00" * 8)  # a number of 63 bits
@example(MIXED, b"\xff" * 9 + b"\x01\x01a" + b"\x00" * 8)  # the lowest one, of 64 bits
@example(MIXED, b"\x80\x00\x01a" + b"\x00" * 8)  # a number in more bytes than it needs
@example(MIXED, b"\x01\x02\xc3\xa9" + b"\x00" * 8)  # a letter beyond ASCII
@example(MIXED, b"\x01\x01\x7f" + b"\x00" * 8)
@example(MIXED, b"\x01\x09a" + b"\x00" * 8)  # a text longer than the data
@example(MIXED, b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7fa" + b"\x00" * 8)
@example(MIXED, b"\x01\x01a\x80" + b"\x00" * 7)  # negative zero
@example(MIXED, b"\x01\x01a\x7f\xf8" + b"\x00" * 6)  # not a number
@example(MIXED, b"\x01\x01a\x7f\xef" + b"\xff" * 6)  # above the bound
@example(MIXED, b"\x01\x01a" + b"\x00" * 9)
@example(PADDED, b"\x00\x01b")  # an index whose text is another index when blanks collapse
@example(PADDED, b"\x02\x01\x07")  # a character that XML does not allow
@example(PADDED, b"\x02\x81\x00b")  # a length in more bytes than it needs
@example(PADDED, b"\x02\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00")
@example(SPOT, b"\x80" + b"\x00" * 15)  # negative zero
def test_noise_has_the_same_fate(type, noise):
    agree(type, type.fingerprint + noise)


def test_an_unknown_type_and_too_many_bytes_are_refused_alike():
    for data in (b"", b"short", bytes(8), bytes(8) + b"x", PADDED.fingerprint + bytes(1 << 16)):
        agree(PADDED, data)


def test_a_type_that_is_learned_later_is_found():
    types = {}
    reader = EventReader(types)
    late = EventType("late", (Field("n", Integer()),))
    data = encode_event(late(n=-5))
    assert outcome(reader.read, data) == outcome(lambda data: decode_event(data, {}), data)
    types["late"] = late
    assert reader.read(data) == late(n=-5)
