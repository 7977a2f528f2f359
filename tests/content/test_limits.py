"""Limits lie where they are told: what reaches one is taken, and one more is refused or made coarser."""

from datetime import datetime, timedelta

import pytest

from roamcast.content.box.area_set import MAX_TESTS, AreaSet, RegionTest
from roamcast.content.box.conjunction import MAX_PATTERNS
from roamcast.content.box.field_order import MAX_PAIRS
from roamcast.content.box.glob import caseless
from roamcast.content.box.record_list_set import MAX_REQUIRED
from roamcast.content.box.string_set import StringSet
from roamcast.content.codec.primitives import Reader, put_number
from roamcast.content.earth.shapes import LatLonBox
from roamcast.content.errors import CodecError, ContentError, FilterError
from roamcast.content.field_type import Enumeration, Integer, String
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.grouping.drawing import _box, _cut
from roamcast.content.grouping.features import columns
from roamcast.content.grouping.hull import hull, union
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import EventDigest, Summary
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.digest import AFFIX, MAX_BYTES, hash_prefix, hash_suffix
from roamcast.content.summary.parts import MAX_SPANS, WHOLES, NumericPart, StringPart
from roamcast.content.summary.summary import MAX_ROWS
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.errors import XmlError
from roamcast.content.xml.event_target import MAX_DEPTH
from roamcast.content.xml.xsd import XmlSchema
from roamcast.content.xpath.parser import MAX_NESTING

SONG = EventType("song", {"year": Integer(), "title": String()})
WIDE = EventType("wide", {f"f{n}": Integer() for n in range(8)})


def test_conditions_are_nested_so_deep_and_stand_beside_each_other_without_end():
    def nested(depth):
        return f"/song[{'(' * (depth - 1)}year > 3{')' * (depth - 1)}]"

    assert Filter.parse(nested(MAX_NESTING), SONG) == (SONG.year > 3)
    with pytest.raises(FilterError, match=f"nested deeper than {MAX_NESTING}"):
        Filter.parse(nested(MAX_NESTING + 1), SONG)
    beside = " and ".join(["(year > 3)", "not(year > 9)"] * MAX_NESTING)
    assert Filter.parse(f"/song[{beside}]", SONG) == (SONG.year > 3) & (SONG.year <= 9)
    assert Filter.parse("/song" + "[year > 3]" * (MAX_NESTING + 1), SONG) == (SONG.year > 3)


def test_so_many_pairs_of_fields_are_compared():
    pairs = [f"f{one} <= f{other}" for other in range(8) for one in range(other)]
    most = Filter.parse(f"/wide[{' and '.join(pairs[:MAX_PAIRS])}]", WIDE)
    assert most.matches(WIDE({f"f{n}": n for n in range(8)}))
    with pytest.raises(ContentError, match=f"more than {MAX_PAIRS} pairs of fields"):
        Filter.parse(f"/wide[{' and '.join(pairs[: MAX_PAIRS + 1])}]", WIDE)


def test_so_many_patterns_are_asked_of_one_text():
    asked = [(1, StringSet.where([("", f"<{n}>", "")])) for n in range(MAX_PATTERNS + 1)]
    [[(_, texts)]] = Filter.of(SONG, [asked[:-1]]).conjunctions
    assert len(texts.like) == MAX_PATTERNS
    with pytest.raises(ContentError, match=f"more than {MAX_PATTERNS} patterns for 'title'"):
        Filter.of(SONG, [asked])


def test_so_many_regions_are_asked_of_one_area():
    tests = [RegionTest(False, LatLonBox(n + 0.0, 0.0, n + 0.5, 1.0)) for n in range(MAX_TESTS + 1)]
    assert len(AreaSet.where("", tests[:-1]).required) == MAX_TESTS
    assert len(AreaSet.where("", tests[:4], tests[4:-1]).refused) == MAX_TESTS - 4
    for split in (0, 4):
        with pytest.raises(ContentError, match=f"more than {MAX_TESTS} regions"):
            AreaSet.where("", tests[:split], tests[split:])


def test_so_many_records_are_asked_for_and_so_many_alternatives_are_taken():
    album = EventType("album", (Field("track", RecordList(SONG)),))
    each = [f"track[year = {n}]" for n in range(MAX_REQUIRED + 1)]
    [[(_, some)]] = Filter.parse(f"/album[{' and '.join(each[:-1])}]", album).conjunctions
    assert len(some.required) == MAX_REQUIRED
    with pytest.raises(ContentError, match=f"more than {MAX_REQUIRED} tests on one repeated element"):
        Filter.parse(f"/album[{' and '.join(each)}]", album)
    boxes = [
        (*(SONG.year == n).conjunctions[0], (1, StringSet((str(n),)))) for n in range(MAX_CONJUNCTIONS + 1)
    ]
    assert len(Filter.of(SONG, boxes[:-1]).conjunctions) == MAX_CONJUNCTIONS
    with pytest.raises(ContentError, match=f"the filter has {MAX_CONJUNCTIONS + 1} alternatives"):
        Filter.of(SONG, boxes)


def test_a_number_takes_so_many_bytes_and_no_more():
    for number, size in ((0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (2**32, 5)):
        out = bytearray()
        put_number(out, number)
        assert len(out) == size
        assert Reader(bytes(out)).number(number) == number
        if number:
            with pytest.raises(CodecError, match=f"the number {number} exceeds the maximum {number - 1}"):
                Reader(bytes(out)).number(number - 1)
    assert Reader(b"\x80" * 10 + b"\0").number(0) == 0
    with pytest.raises(CodecError, match="too many bytes"):
        Reader(b"\x80" * 11 + b"\0").number(0)


def test_bloom_filters_have_sixteen_bits_of_places():
    for bits, hashes in ((1, 1), (1 << 16, 32)):
        result = Summary.of([SONG.title == "a"], BloomShape(bits, hashes))
        assert Summary.from_bytes(result.to_bytes()) == result
    for bits, hashes in ((0, 1), ((1 << 16) + 1, 1), (8, 0), (8, 33)):
        with pytest.raises(ContentError, match="cannot have"):
            BloomShape(bits, hashes)
    assert BloomShape.for_rate(1000, 0.01) == BloomShape(9586, 7)  # as textbooks have it
    assert BloomShape(9586, 7).rate(1000) == pytest.approx(0.01, rel=0.01)
    assert BloomShape.for_rate(1, 0.9).hashes == 1


def test_of_long_texts_the_first_and_the_last_letters_are_looked_at():
    text = "abcdefghijklmnopqrstuvwxyz"
    assert hash_prefix(text) == hash_prefix(text[:AFFIX]) != hash_prefix(text[: AFFIX - 1])
    assert hash_suffix(text) == hash_suffix(text[-AFFIX:]) != hash_suffix(text[-AFFIX + 1 :])
    for length in (0, 3, AFFIX, AFFIX + 1):
        result = EventDigest.of(SONG(year=1, title=text[:length])).values[1]
        count = min(length, AFFIX) + 1
        assert result.prefixes == tuple(hash_prefix(text[:n]) for n in range(count))
        assert result.suffixes == tuple(hash_suffix(text[length - n : length]) for n in range(count))


def test_a_digest_takes_so_many_bytes():
    # Eight bytes of fingerprint, two of the count, nine a number.
    count = (MAX_BYTES - 10) // 9
    rest = MAX_BYTES - 10 - 9 * count
    longest = EventDigest(b"12345678", (*range(count), *[None] * rest))
    assert len(longest.to_bytes()) == MAX_BYTES
    assert EventDigest.from_bytes(longest.to_bytes()) == longest
    with pytest.raises(CodecError, match=f"{MAX_BYTES + 1} bytes"):
        EventDigest(b"12345678", (*longest.values, None)).to_bytes()
    assert EventDigest.from_bytes(b"12345678\0\0") == EventDigest(b"12345678", ())
    with pytest.raises(CodecError, match="the digest has 9 bytes"):
        EventDigest.from_bytes(b"12345678\0")


def test_so_many_sub_ranges_rows_and_spellings_are_told_apart():
    years = [SONG.year == 10 * n for n in range(MAX_SPANS)]
    exact = Summary.of(years).rows[SONG.fingerprint][0][0]
    assert isinstance(exact, NumericPart)
    assert exact.spans == tuple((n, n) for n in range(0, 10 * MAX_SPANS, 10))
    more = Summary.of([*years, SONG.year == 1000, SONG.year == 1005]).rows[SONG.fingerprint][0][0]
    assert len(more.spans) == MAX_SPANS and more.spans[-1] == (1000, 1005) and more.spans[0] == (0, 10)
    several = EventType("several", {f"f{n}": Integer() for n in range(MAX_ROWS + 1)})
    filters = [several[f"f{n}"] > 0 for n in range(MAX_ROWS + 1)]
    assert len(Summary.of(filters[:-1]).rows[several.fingerprint]) == MAX_ROWS
    assert len(Summary.of(filters).rows[several.fingerprint]) <= MAX_ROWS
    for word, whole in (("abcdef", True), ("abcdefg", False)):  # 64 spellings, and twice as many
        part = StringPart.of(StringSet.where([caseless((word,))]), BloomShape())
        assert (part.roles == WHOLES) is whole
        assert part.admits(EventDigest.of(SONG(year=1, title=word.upper())).values[1])


def test_a_hull_has_so_many_spans_and_words_and_distances_so_many_listed_values():
    [[(_, years)]] = hull([SONG.year == 10 * n for n in range(16)]).conjunctions
    assert len(years.spans) == 16
    [[(_, years)]] = hull([SONG.year == 10 * n for n in range(17)]).conjunctions
    assert len(years.spans) == 16 and years.spans[0] == (0, 10)
    words = [SONG.title == f"ab{n:02}" for n in range(65)]
    [[(_, texts)]] = hull(words[:-1]).conjunctions
    assert len(texts.values) == 64
    assert hull(words) == SONG.title.startswith("ab")
    several = [(SONG.year == n) & (SONG.title == f"w{n}") for n in range(9)]
    assert len(union(several[:-1]).conjunctions) == 8 and union(several) == hull(several)
    for count in (63, 64, 65):
        kind = Enumeration(tuple(f"v{n}" for n in range(count)))
        assert len(columns(kind, None, (0.0, 1.0))) == 1 + min(count, 64)


def test_boxes_of_a_picture_have_so_many_lines_and_rows_so_many_boxes():
    assert _box(" and ".join("abcdef"), 1).split("\n") == ["a", *(f"and {each}" for each in "bcdef")]
    assert _box(" and ".join("abcdefg"), 3).split("\n") == [
        "a",
        *(f"and {each}" for each in "bcde"),
        "...",
        "(x3)",
    ]
    assert [len(row) for row in _cut(list(range(25)))] == [12, 12, 1]
    assert max(map(len, _box("x" * 60 + " or yy", 1).split("\n"))) == 28


def test_open_content_is_as_deep_as_anything():
    schema = XmlSchema(
        b'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:complexType>'
        b'<xs:sequence><xs:element name="n" type="xs:int"/>'
        b'<xs:any namespace="##other" processContents="skip" minOccurs="0"/></xs:sequence>'
        b"</xs:complexType></xs:element></xs:schema>"
    )

    def document(depth):
        inner = b'<x xmlns="urn:x">' + b"<y>" * (depth - 2) + b"</y>" * (depth - 2) + b"</x>"
        return b"<a><n>3</n>" + inner + b"</a>"

    assert schema.read(document(MAX_DEPTH))["n"] == 3
    with pytest.raises(XmlError, match=f"elements nested deeper than {MAX_DEPTH}"):
        schema.read(document(MAX_DEPTH + 1))


def test_spans_of_time_are_added_up_from_their_parts():
    read, write = Duration().read, Duration().write
    second = 1_000_000
    month = round(365.2425 * 86_400 / 12) * second
    assert read("P1Y2M3DT4H5M6.789S") == 14 * month + (((3 * 24 + 4) * 60 + 5) * 60 + 6) * second + 789_000
    assert read("-PT0.000001S") == -1 and read("PT0.0000019S") == 1
    assert read("P100000Y") == 1_200_000 * month and read("-P100000Y") == -1_200_000 * month
    for text in ("P100000YT0.000001S", "-P100000YT0.000001S"):
        with pytest.raises(ContentError):
            read(text)
    for text in ("PT0S", "-P1D", "PT1M", "PT59S", "PT1H", "P1DT1S", "PT23H59M59.999999S", "PT0.5S"):
        assert write(read(text)) == text
    assert write(read("PT60S")) == "PT1M" and write(read("PT3600S")) == "PT1H"
    assert write(Duration().store(timedelta(hours=24))) == "P1D"


def test_points_in_time_lie_in_the_years_1_to_9999():
    read = DateTime().read
    assert read("1970-01-01T00:00:00") == read("1970-01-01T01:00:00+01:00") == 0
    assert read("1970-01-01T24:00:00Z") == 86_400_000_000 and read("1969-12-31T23:59:59.999999Z") == -1
    low, high = DateTime().bounds()
    assert (read("0001-01-01T00:00:00Z"), read("9999-12-31T23:59:59.999999Z")) == (low, high)
    with pytest.raises(ContentError, match="not a valid date and time"):
        read("9999-12-31T24:00:00Z")
    for text in ("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"):
        with pytest.raises(ContentError, match="is not in the years 1 to 9999 in UTC"):
            read(text)
        with pytest.raises(ContentError, match="is not in the years 1 to 9999 in UTC"):
            DateTime().store(datetime.fromisoformat(text))
    assert read("2005-03-08T12:00:00.25Z") - read("2005-03-08T12:00:00Z") == 250_000
