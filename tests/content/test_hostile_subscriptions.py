"""Hostile subscriptions, as text and as bytes: refused with a reason, or read quickly."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.box.range_set import RangeSet, after
from roamcast.content.box.string_set import StringSet
from roamcast.content.codec import encode_filter
from roamcast.content.errors import CodecError, ContentError, FilterError
from roamcast.content.field_type import Decimal, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType

from .test_hostile import CD


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("", "must begin with '/'", 0),
        ("CD", "must begin with '/'", 0),
        ("//CD", "not '//'", 0),
        ("/CD[categry='jazz']", "did you mean 'category'", 4),
        ("/CD[category='jaz']", "did you mean 'jazz'", 13),
        ("/CD[price<'x']", "not a number", 10),
        ("/CD[5]", "positions are not supported", 4),
        ("/CD[composer<'x']", "< is not defined", 13),
        ("/CD[price<1e3]", "no exponent", 10),
        ("/CD[price<1.5E-3]", "no exponent", 10),
        ("/CD[price<٣]", "no field '٣'", 10),
        ("/CD[price<'٣']", "not a number", 10),
        ("/CD[composer='日本語' and x]", "no field 'x'", 23),
        ("/CD[price mod 2=1]", "arithmetic", 10),
        ("/CD[composer=concat('x')]", "two strings or more", 23),
        ("/CD[price lt 20]", "write < for 'lt'", 10),
        ("/CD[price", "not the end", 9),
        ("/DVD", "known: CD", 1),
        ("/CD | /DVD", "known: CD", 7),
        ("/CD[a:b=3]", "namespace prefixes", 5),
        ("/CD[child::price=3]", "axes", 9),
        ("/CD[count(price)=1]", "count() is not supported", 4),
        ("/CD[price+1=3]", "arithmetic", 9),
        ("/CD[price>composer]", "their types differ", 9),
        ("/CD[1>2]", "two values does not depend", 5),
        ("/CD[price>$most]", "$most has no value", 10),
        ("/CD[@id/x]", "nothing below it", 7),
        ("/CD[../x]", "'..' is not supported", 4),
        ("/CD[composer=']", "not closed", 13),
        ("/CD[composer=true()]", "quoted word", 13),
        ("/CD[composer=5]", "quote the value", 13),
        ("/CD[/CD]", "relative to the preceding element", 4),
        ("/CD/*", "'*' is supported only inside strings", 4),
        ("/CD]", "expected '|'", 3),
        ("/CD[starts-with(price, '1')]", "text functions are not defined", 23),
        ("/CD[" + "(" * 10_000, "nested deeper", 68),
        ("/CD[" + "not(" * 10_000, "nested deeper", 260),
    ],
)
def test_a_subscription_outside_the_language_is_refused_with_reason_and_position(text, reason, position):
    with pytest.raises(FilterError) as raised:
        Filter.parse(text, CD)
    assert reason in raised.value.reason
    assert raised.value.position == position
    assert f"at character {position + 1}" in str(raised.value)


def test_a_subscription_that_would_explode_is_refused_quickly():
    many = EventType("T", {f"n{n}": Decimal() for n in range(30)})
    text = "/T" + "".join(f"[n{n}=1 or n{n + 1}=2]" for n in range(0, 30, 2))
    start = time.process_time()
    with pytest.raises(FilterError, match="the maximum is"):
        Filter.parse(text, many)
    assert time.process_time() - start < 5
    a_thousand = " or ".join(f"n0={n}" for n in range(1000))
    assert len(Filter.parse(f"/T[{a_thousand}]", many).conjunctions) == 1


TEXT = EventType("T", {"s": String(), "d": Decimal()})


@pytest.mark.parametrize(
    ("word", "test", "count", "expected"),
    [
        (" and ", "s!='{}'", 4500, True),
        (" or ", "s='{}'", 5000, False),
        (" and ", "d!={}", 5000, False),
        (" or ", "d={}", 5000, True),
        (" or ", "contains(s,'x{}')", 240, True),
        (" and ", "contains(s,'{}')", 2600, "more than 128 patterns for 's'"),
        (" and ", "not(contains(s,'{}'))", 2000, "more than 128 patterns for 's'"),
    ],
)
def test_thousands_of_tests_on_one_field_are_read_or_refused_quickly(word, test, count, expected):
    text = "/T[" + word.join(test.format(2 * n) for n in range(count)) + "]"
    start = time.process_time()
    if isinstance(expected, str):
        with pytest.raises(FilterError, match=expected):
            Filter.parse(text, TEXT)
    else:
        assert Filter.parse(text, TEXT).matches(TEXT({"s": "x4", "d": 4})) == expected
    assert time.process_time() - start < 10


def test_a_filter_from_the_air_with_thousands_of_patterns_is_read_or_refused_quickly():
    def filter_bytes(pieces):
        data = bytearray(TEXT.fingerprint + bytes([1, 1, 0, 0]))
        count = len(pieces)
        while count > 0x7F:
            data.append(count & 0x7F | 0x80)
            count >>= 7
        data.append(count)
        for piece in pieces:
            data.append(len(piece))
            for word in piece:
                data.append(len(word))
                data += word.encode()
        return bytes(data)

    stars = [("", f"{n:04}", "") for n in range(4000)]
    start = time.process_time()
    with pytest.raises(ContentError, match="more than 128 patterns"):
        Filter.from_bytes(filter_bytes(stars), TEXT)
    assert Filter.from_bytes(filter_bytes(stars[:128]), TEXT).matches(TEXT({"s": "x", "d": 1}))
    words = [(f"{n:04}",) for n in range(4000)]
    assert not Filter.from_bytes(filter_bytes(words), TEXT).matches(TEXT({"s": "0004", "d": 1}))
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "domain",
    [
        RangeSet(((5.0, 6.0), (1.0, 2.0))),
        RangeSet(((1.0, 3.0), (2.0, 6.0))),
        RangeSet(((1.0, 2.0), (1.0, 2.0))),
        RangeSet(((1.0, 2.0), (after(2.0), 6.0))),
        RangeSet(((2.0, 1.0), (3.0, 4.0))),
        StringSet(("b", "a")),
        StringSet(("a", "a")),
    ],
    ids=["unsorted", "overlapping", "doubled", "adjacent", "backwards", "unsorted texts", "doubled texts"],
)
def test_a_set_of_values_has_one_way_in_bytes(domain):
    place = TEXT.index("d" if isinstance(domain, RangeSet) else "s")
    data = encode_filter(Filter(TEXT, (((place, domain),),)))
    with pytest.raises(CodecError, match="not sorted"):
        Filter.from_bytes(data, TEXT)


def test_one_zero_of_two_is_refused_in_bytes():
    data = (TEXT.d == 0).to_bytes()
    assert data.count(bytes(8)) == 2
    with pytest.raises(ContentError, match="not in canonical form"):
        Filter.from_bytes(data.replace(bytes(8), b"\x80" + bytes(7)), TEXT)


PIECES = r"""
    /CD [ ] ( ) @id price category composer = != < <= > >= and or not( starts-with( contains(
    ends-with( concat( "jazz" 'a*b' "*" 5 -5 . .. // | , true() false() * :: "20" "2005-01-01"
    @timestamp /
    """
pieces = st.sampled_from(PIECES.split())


@settings(max_examples=300)
@given(st.lists(pieces, max_size=20).map(" ".join) | st.text(max_size=40).map("/CD".__add__))
def test_any_text_is_a_filter_or_a_clear_refusal(text):
    try:
        wanted = Filter.parse(text, CD)
    except FilterError as error:
        assert 0 <= error.position <= len(text)
        return
    assert Filter.parse(str(wanted), CD) == wanted
