"""What content refuses, each with the reason that a person reads: not just that something was wrong."""

import struct
from datetime import date

import pytest

from roamcast.content.box.field_order import pair_index
from roamcast.content.codec import MAX_BYTES, decode_event, decode_filter, encode_event, encode_filter
from roamcast.content.declare import declare_type, infer_type
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.event import MAX_JSON, Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.record_list import MAX_RECORDS, RecordList
from roamcast.content.schema import MAX_DEPTH, MAX_RECORD_DEPTH, EventType
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.codec import decode as decode_summary
from roamcast.content.summary.codec import encode as encode_summary
from roamcast.content.summary.digest import EventDigest
from roamcast.content.summary.summary import Summary

Song = EventType(
    "song", {"title": String(), "year": Integer(1900, 2100), "sold": Decimal()}, optional=("sold",)
)
Track = EventType("track", {"title": String()})
Album = EventType("album", {"name": String(), "track": RecordList(Track, 1)})
Priced = EventType("priced", {"price": Decimal(), "price/@unit": String()}, optional=("price", "price/@unit"))
A_SONG = Song(title="So What", year=1959)
PRINT = Song.fingerprint


def number(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return number(len(data)) + data


VALUES = text("So What") + number(1959 << 1) + b"\0"

EVENTS = {
    "more bytes than an event has": (bytes(MAX_BYTES + 1), "65537 bytes; the maximum is 65536"),
    "a stranger's type": (b"12345678" + VALUES, r"unknown event type \(fingerprint 3132333435363738\)"),
    "an early end": (PRINT + VALUES[:-2], "the data end too early"),
    "too many bytes": (PRINT + VALUES + b"abc", "3 bytes follow the end of the data"),
    "a year out of bounds": (
        PRINT + text("a") + number(2101 << 1) + b"\0",
        "the value of year is out of bounds",
    ),
    "a year below": (PRINT + text("a") + number(1899 << 1) + b"\0", "the value of year is out of bounds"),
    "neither there nor not": (PRINT + VALUES[:-1] + b"\2", "the number 2 exceeds the maximum 1"),
    "a number has too many bytes": (PRINT + text("a") + b"\x80" * 11 + b"\0", "a number has too many bytes"),
    "text that is none": (
        PRINT + text(b"\xff") + VALUES[8:],
        "a text is not valid UTF-8 or has characters that XML does not allow",
    ),
    "text that no XML has": (
        PRINT + text("\0") + VALUES[8:],
        "a text is not valid UTF-8 or has characters that XML does not allow",
    ),
    "a number written long": (PRINT + b"\x87\0" + VALUES[1:], "not in canonical form"),
    "minus zero": (PRINT + VALUES[:-1] + b"\1" + struct.pack(">d", -0.0), "not in canonical form"),
}


@pytest.mark.parametrize(("data", "reason"), EVENTS.values(), ids=EVENTS)
def test_bytes_of_an_event(data, reason):
    with pytest.raises(CodecError, match=reason):
        decode_event(data, Song)


def test_the_bytes_that_are_spoilt_above_are_those_of_an_event():
    assert encode_event(A_SONG) == PRINT + VALUES
    assert decode_event(PRINT + VALUES, {"song": Song}) == A_SONG


def year(low, high):
    return number(1) + number(1 << 1) + number(low << 1) + number(high << 1)


FILTERS = {
    "a field too many": (number(1) + number(1) + number(3), "field index 3 in a type with 3 fields"),
    "spans out of order": (
        number(1)
        + number(1)
        + number(1)
        + number(2 << 1)
        + b"".join(number(y << 1) for y in (1950, 1951, 1940, 1941)),
        "the ranges of year are not sorted",
    ),
    "spans without a gap": (
        number(1)
        + number(1)
        + number(1)
        + number(2 << 1)
        + b"".join(number(y << 1) for y in (1950, 1951, 1952, 1953)),
        "the ranges of year are not sorted",
    ),
    "texts out of order": (
        number(1) + number(1) + number(0) + number((2 << 1 | 1) << 1) + text("b") + text("a"),
        "the texts of title are not sorted",
    ),
    "a text twice": (
        number(1) + number(1) + number(0) + number((2 << 1 | 1) << 1) + text("a") + text("a"),
        "the texts of title are not sorted",
    ),
    "more spans than bytes": (number(1) + number(1) + number(1) + number(9 << 1), "the data end too early"),
    "more texts than bytes": (
        number(1) + number(1) + number(0) + number((9 << 1 | 1) << 1),
        "the data end too early",
    ),
    "a contradiction": (
        number(1) + number(2) + year(1950, 1951) + year(1960, 1961),
        "a conjunction is not satisfiable",
    ),
    "two fields that it has not": (
        number(1) + number(1) + number(pair_index(1, 3)) + number(1),
        "the type has no such pair of fields",
    ),
}


@pytest.mark.parametrize(("data", "reason"), FILTERS.values(), ids=FILTERS)
def test_bytes_of_a_filter(data, reason):
    with pytest.raises(CodecError, match=reason):
        decode_filter(PRINT + data, Song)


def test_the_bytes_of_a_filter_begin_as_those_that_are_spoilt():
    assert encode_filter((Song.year >= 1950) & (Song.year <= 1951)) == PRINT + number(1) + number(1) + year(
        1950, 1951
    )


def test_what_needs_more_bytes_than_there_may_be_is_not_written():
    longest = "x" * (MAX_BYTES - len(PRINT) - 3 - 2 - 1)
    assert len(encode_event(Song(title=longest, year=1959))) == MAX_BYTES
    with pytest.raises(CodecError, match="65537 bytes; the maximum is 65536"):
        encode_event(Song(title=f"{longest}x", year=1959))


DECLARED = {
    "optional": (
        lambda: EventType("a", {"b": String()}, optional=("c",)),
        "'c' is declared optional but is not a field",
    ),
    "deep": (
        lambda: EventType("a", {"/".join("b" * (MAX_DEPTH + 1)): String()}),
        f"a field is nested {MAX_DEPTH + 1} deep; the maximum is {MAX_DEPTH}",
    ),
    "repeated and missing": (
        lambda: EventType("a", {"track": RecordList(Track)}, optional=("track",)),
        "'track' is a repeated element and cannot be optional",
    ),
    "attribute": (
        lambda: EventType("a", {"b": String(), "b/@c": String()}, optional=("b",)),
        "'b/@c' must be optional, as its element is",
    ),
    "integer": (lambda: Integer(4, 3), "an integer cannot have the bounds 4 and 3"),
    "integer too large": (lambda: Integer(0, 2**63), "cannot have the bounds"),
    "integer too small": (lambda: Integer(-(2**63) - 1, 0), "cannot have the bounds"),
    "decimal": (lambda: Decimal(4.0, 3.0), "a decimal cannot have the bounds 4.0 and 3.0"),
    "endless decimal": (lambda: Decimal(0.0, float("inf")), "cannot have the bounds"),
    "date": (
        lambda: Date(date(2000, 1, 2), date(2000, 1, 1)),
        "a date cannot have the bounds 2000-01-02 and 2000-01-01",
    ),
    "empty enumeration": (lambda: Enumeration(()), "must list at least one value, and each only once"),
    "enumeration": (lambda: Enumeration(("a", "a")), "must list at least one value, and each only once"),
    "field": (lambda: declare_type("a", {"b": {"kind": "integer", "most": 3}}), "a/b: 'most' is not a key"),
    "records": (
        lambda: declare_type("a", {"b": {"kind": "records", "fields": {}, "c": 1}}),
        "'c' is not a key",
    ),
    "records without fields": (
        lambda: declare_type("a", {"b": {"kind": "records"}}),
        "needs a table 'fields'",
    ),
    "too many records": (
        lambda: declare_type(
            "a", {"b": {"kind": "records", "fields": {"c": "string"}, "least": MAX_RECORDS + 1}}
        ),
        "'least' must be an integer",
    ),
    "values of two kinds": (
        lambda: infer_type("a", [{"b": 1}, {"b": "x"}]),
        "a/b: no field type has all the values",
    ),
}


@pytest.mark.parametrize(("declare", "reason"), DECLARED.values(), ids=DECLARED)
def test_what_cannot_be_declared(declare, reason):
    with pytest.raises(ContentError, match=reason):
        declare()


def test_what_lies_on_a_bound_can_be_declared():
    assert EventType("a", {"/".join("b" * MAX_DEPTH): String()}).fields
    assert (Integer(3, 3).bounds(), Decimal(3.0, 3.0).bounds()) == ((3, 3), (3.0, 3.0))
    assert Integer(-(2**63), 2**63 - 1).store(2**63 - 1) == 2**63 - 1
    assert Date(date(2000, 1, 1), date(2000, 1, 1)).store("2000-01-01") == date(2000, 1, 1).toordinal()
    most = {"kind": "records", "fields": {"c": "string"}, "least": MAX_RECORDS}
    assert declare_type("a", {"b": most}).fields[0].kind.least == MAX_RECORDS


def nested(depth):
    record = Track
    for _ in range(depth - 1):
        record = EventType("outer", {"inner": RecordList(record)})
    return EventType("whole", {"outer": RecordList(record)})


def test_elements_repeat_in_each_other_as_deep_as_they_may():
    assert nested(MAX_RECORD_DEPTH).record_depth == MAX_RECORD_DEPTH
    with pytest.raises(
        ContentError, match=f"'outer' is nested in more than {MAX_RECORD_DEPTH} repeated elements"
    ):
        nested(MAX_RECORD_DEPTH + 1)


def test_an_event_in_json_may_be_as_long_as_it_may():
    written = A_SONG.to_json()
    assert Event.from_json(written + " " * (MAX_JSON - len(written)), Song) == A_SONG
    with pytest.raises(ContentError, match=f"the event has {MAX_JSON + 1} bytes of JSON"):
        Event.from_json(written + " " * (MAX_JSON + 1 - len(written)), Song)


SAID = {
    "twice": (
        lambda: Event.of(Priced, {"price/@unit": "kg", "price": {"@unit": "g"}}),
        "'price/@unit' is given twice",
    ),
    "attribute alone": (
        lambda: Priced({"price/@unit": "kg"}),
        "'price/@unit' is set, but its element is missing",
    ),
    "missing": (lambda: Song(title="a"), "song: 'year' is missing"),
    "no records": (lambda: Album(name="a"), "album: 'track' is missing"),
    "too many records": (
        lambda: Album(name="a", track=[{"title": "b"}] * (MAX_RECORDS + 1)),
        f"{MAX_RECORDS + 1} records of 'track'; expected at most {MAX_RECORDS}",
    ),
    "records of another type": (
        lambda: Album(name="a", track=[A_SONG]),
        "the record is of type 'song'; expected 'track'",
    ),
    "not a list": (lambda: Album(name="a", track={"title": "b"}), "is not a list of records"),
    "wrong kind": (lambda: Song(title="a", year="b"), "song/year: 'b' is not an integer"),
    "flag for a number": (lambda: Song(title="a", year=True), "song/year: True is not an integer"),
    "number as text": (lambda: Song(title=3, year=1959), "song/title: "),
    "key": (lambda: Song({3: "a"}), "3 is not the name of a field"),
    "value inside": (lambda: Song({"title": {"b": 1}}), "song/title: .* is not a string"),
    "value of a stranger": (lambda: Song({"tilte": {"b": 1}}), "no field 'tilte'; did you mean 'title'"),
    "no JSON": (lambda: Event.from_json("{", Song), "not JSON: "),
    "a key twice": (
        lambda: Event.from_json('{"song": {"year": 1, "year": 2}}', Song),
        "not JSON: an object has a key twice",
    ),
    "two types": (lambda: Event.from_json('{"a": {}, "b": {}}', Song), "an object with one key"),
    "no object": (
        lambda: Event.from_json('{"song": 3}', Song),
        "song: expected an object of fields, not '3'",
    ),
    "a stranger": (
        lambda: Event.from_json('{"tune": {}}', Song),
        "no event type is called 'tune'; known: song",
    ),
    "too long": (lambda: Event.from_json(" " * (1 << 20) + "{}", Song), "bytes of JSON"),
    "neither": (lambda: Boolean().store(1), "1 is neither True nor False"),
    "neither word": (lambda: Boolean().read("yes"), "'yes' is neither 'true' nor 'false'"),
    "no day": (lambda: Date().store("2001-02-29"), "'2001-02-29' is not a day of the calendar"),
    "no date": (lambda: Date().store("yesterday"), "is not a date like"),
    "no date either": (lambda: Date().store(3), "3 is not a date"),
    "nan": (lambda: Decimal().store(float("nan")), "not a finite number"),
    "infinite": (lambda: Decimal().read("INF"), "is not a finite number"),
    "not a number": (lambda: Decimal().read("1,5"), "'1,5' is not a decimal number"),
    "huge": (lambda: Decimal().store(10**400), "exceeds the range of a double"),
    "huge text": (lambda: Decimal().read("1" + "0" * 399), "exceeds the range of a double"),
    "no integer": (lambda: Integer().read("1.5"), "'1.5' is not an integer"),
    "long integer": (
        lambda: Integer().read("9223372036854775808"),
        "does not fit into a signed 64-bit integer",
    ),
    "outside": (lambda: Integer(1, 5).store(6), "6 is not between 1 and 5"),
    "below": (lambda: Integer(1, 5).read("0"), "0 is not between 1 and 5"),
    "records as text": (lambda: RecordList(Track).read("x"), "'track' contains records, not text"),
}


@pytest.mark.parametrize(("say", "reason"), SAID.values(), ids=SAID)
def test_what_cannot_be_said(say, reason):
    with pytest.raises(ContentError, match=reason):
        say()


def test_filters_and_types_do_not_change_and_stay_among_their_own():
    wanted = Song.year > 1950
    with pytest.raises(AttributeError, match="a filter is immutable"):
        wanted.type = Album
    with pytest.raises(AttributeError, match="an event type is immutable"):
        Song.name = "tune"
    with pytest.raises(TypeError, match="combined only with another filter, not with 3"):
        wanted & 3
    with pytest.raises(ContentError, match="filters of song and album cannot be combined"):
        wanted & (Album["name"] == "a")
    with pytest.raises(ContentError, match="'title' of song is not a repeated element"):
        Song.record("title")


XPATHS = {
    "/song[lower-case('A') = 'a']": "lower-case\\(\\) takes a path",
    "/song[starts-with('a', title)]": "takes a path as its first argument",
    "/song[year > 1e3]": "numbers in XPath have no exponent",
    "/song[lower-case(title) = 'A']": "'A' is not in lower case and never matches; write 'a'",
    "/song[title = 'a": "the string is not closed",
    "/song[title ! 'a']": "'!' is not a valid character here",
    "/song[year > ]": "expected",
    "/song[year > -]": "expected a number after '-'",
    "/song[titel = 'a']": "did you mean 'title'",
    "/song[year = '1959'": "expected",
    "/song[title < 'a']": "title is a string: < is not defined for it",
    "/song[year > 'a']": "'a'",
    "/song[contains(title)]": "contains\\(\\) takes a path and a string",
    "/song[concat('a') = title]": "takes two strings or more",
    "/song[within(., circle(1, 2, 3))]": "has neither decimal fields lat and lon",
    "/tune": "tune",
}


@pytest.mark.parametrize(("xpath", "reason"), XPATHS.items(), ids=XPATHS)
def test_what_is_no_subscription(xpath, reason):
    with pytest.raises(ContentError, match=reason):
        Filter.parse(xpath, Song)


SUMMARY = bytes(encode_summary(Summary.of([Song.year > 1950, Song.title == "a"], BloomShape(64, 2))))
HEAD, KINDS = 5, 5 + 8 + 3 + 1
"Bytes of the shape and the number of types; and of what follows up to the kinds of the fields."


def spoilt(at, *values):
    return SUMMARY[:at] + bytes(values) + SUMMARY[at + len(values) :]


SUMMARIES = {
    "too long": (bytes(1 << 20), "the summary has 1048576 bytes"),
    "an early end": (SUMMARY[:-1], "ends too early"),
    "too many bytes": (SUMMARY + b"a", "not in canonical form"),
    "no rows": (spoilt(HEAD + 10, 0), "3 fields and 0 rows"),
    "fields of no kind": (spoilt(HEAD + 8, 0x10, 1), "4097 fields and 2 rows"),
    "types": (spoilt(3, 4, 1), "the summary has 1025 event types"),
    "flags that there are not": (spoilt(KINDS + 4, 16), "a field has unknown flags"),
    "a field that is none": (spoilt(KINDS + 2, 0, 3), "the fields of a row are not sorted"),
    "bits in a form": (spoilt(KINDS + 5, 2), "unknown encoding of bits"),
    "a bit outside": (spoilt(KINDS + 16, 0, 64), "a bit lies outside the Bloom filter"),
    "spans upside down": (
        SUMMARY[:-16] + SUMMARY[-8:] + SUMMARY[-16:-8],
        "sub-ranges are not sorted and disjoint",
    ),
    "too many spans": (SUMMARY[:-17] + b"\xff" + SUMMARY[-16:], "255 sub-ranges"),
}


@pytest.mark.parametrize(("data", "reason"), SUMMARIES.values(), ids=SUMMARIES)
def test_bytes_of_a_summary(data, reason):
    assert decode_summary(SUMMARY)
    with pytest.raises(CodecError, match=reason):
        decode_summary(data)


DIGEST = EventDigest.of(A_SONG).to_bytes()
DIGESTS = {
    "too short": (DIGEST[:9], "the digest has 9 bytes"),
    "too long": (DIGEST + bytes(1 << 17), "the digest has"),
    "an early end": (DIGEST[:20], "the digest ends too early"),
    "no kind": (DIGEST[:10] + b"?" + DIGEST[11:], "unknown type"),
    "an empty string": (DIGEST[:11] + b"\0" + DIGEST[12:], "a string digest has"),
    "a long string": (DIGEST[:11] + b"\xff" + DIGEST[12:], "a string digest has"),
}


@pytest.mark.parametrize(("data", "reason"), DIGESTS.values(), ids=DIGESTS)
def test_bytes_of_a_digest(data, reason):
    assert EventDigest.from_bytes(DIGEST).to_bytes() == DIGEST
    with pytest.raises(CodecError, match=reason):
        EventDigest.from_bytes(data)
