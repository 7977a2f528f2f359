"""Texts whose case says nothing: `lower-case(title)="kind of blue"`."""

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.box import glob
from roamcast.content.box.string_set import StringSet
from roamcast.content.errors import CodecError, FilterError
from roamcast.content.field_type import Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import Summary

from . import generate

CD = EventType(
    "CD",
    {"title": String(), "by": String(), "sort": Enumeration.of("Pop", "Jazz"), "n": Integer()},
    optional=("by",),
)


def wanted(text):
    found = Filter.parse(text, CD)
    assert Filter.parse(str(found), CD) == found
    assert Filter.from_bytes(found.to_bytes(), CD) == found
    return found


def test_a_title_is_found_however_it_is_written():
    blue = wanted('/CD[lower-case(title)="kind of blue"]')
    assert blue.matches(CD(title="Kind Of BLUE", sort="Jazz", n=1))
    assert not blue.matches(CD(title="Kind of blues", sort="Jazz", n=1))
    assert blue == (CD.title.lower() == "kind of blue")
    assert blue.covers(wanted('/CD[title="Kind of Blue"]'))
    assert not wanted('/CD[title="Kind of Blue"]').covers(blue)
    assert wanted('/CD[contains(lower-case(title), "blue")]').covers(blue)
    assert wanted('/CD[lower-case(sort)="jazz"]') == (CD.sort == "Jazz")


def test_a_word_without_case_is_all_its_spellings_together():
    assert wanted('/CD[title="ab" or title="aB" or title="Ab" or title="AB"]').equivalent(
        wanted('/CD[lower-case(title)="ab"]')
    )
    assert wanted(
        '/CD[lower-case(title)="ab" and title!="ab" and title!="aB" and title!="Ab" and title!="AB"]'
    ).empty
    assert wanted('/CD[lower-case(title)="k" and title!="k" and title!="K"]').example()["title"] == "\u212a"


def test_what_is_missing_is_the_empty_text_as_in_xpath_2():
    nobody = CD(title="x", sort="Pop", n=1)
    assert wanted('/CD[lower-case(by)!="davis"]').matches(nobody)
    assert wanted('/CD[lower-case(by)=""]').matches(nobody)
    assert (CD.by.lower() != "davis") == wanted('/CD[lower-case(by)!="davis"]')
    assert (CD.by.lower() == "").equivalent(wanted('/CD[lower-case(by)=""]'))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('/CD[lower-case(title)="Blue"]', "write 'blue'"),
        ("/CD[lower-case(title)]", "returns a string; compare it"),
        ('/CD[lower-case(title)<"x"]', "by = or !="),
        ("/CD[lower-case(title)=3]", "by = or !="),
        ('/CD[lower-case(n)="x"]', "text functions are not defined"),
        ('/CD[upper-case(title)="X"]', "write lower-case"),
        ('/CD[lower-case("X")="x"]', "takes a path"),
        ('/CD[lower-case(lower-case(title))="x"]', "takes a path"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, reason):
    with pytest.raises(FilterError, match=reason):
        wanted(text)


def test_bytes_of_a_pattern_without_case_are_written_one_way():
    good = wanted('/CD[lower-case(title)="blue"]').to_bytes()
    for wrong in (good.replace(b"blue", b"bluE"), good.replace(b"blue", b"1234")):
        assert wrong != good
        with pytest.raises(CodecError):
            Filter.from_bytes(wrong, CD)


pieces = st.lists(st.sampled_from(["", "a", "A", "b", "aB", "1"]), min_size=1, max_size=3).map(tuple)
globs = st.lists(
    st.tuples(st.booleans(), pieces).map(
        lambda drawn: glob.caseless(tuple(map(str.lower, drawn[1]))) if drawn[0] else glob.tidy(drawn[1])
    ),
    max_size=3,
)
SHORT = ["".join(each) for length in range(5) for each in itertools.product("aAbB1", repeat=length)]


@settings(max_examples=60, deadline=None)
@given(globs, globs, globs)
def test_sets_of_such_texts_are_exact(like, unlike, others):
    one, other = StringSet.where(like, unlike), StringSet.where(others)
    inside = [text for text in SHORT if one.has(text)]
    expected = [
        t for t in SHORT if all(glob.fits(g, t) for g in like) and not any(glob.fits(g, t) for g in unlike)
    ]
    assert inside == expected
    rest = one.outside(StringSet())
    assert all(one.has(text) != any(each.has(text) for each in rest) for text in SHORT)
    example = one.example()
    if example is None:
        assert not inside
    else:
        assert one.has(example)
    if other.covers(one):
        assert all(map(other.has, inside))
    else:
        outside = [one.meet(each) for each in other.outside(StringSet())]
        assert any(
            each.example() is not None and one.has(each.example()) for each in outside if not each.empty
        )


def test_the_index_and_the_summary_know_them():
    r = Random("case")
    type = EventType(
        "T",
        (
            Field("a", String()),
            Field("b", String(), True),
            Field("r", RecordList(EventType("r", (Field(".", String()), Field("@k", String(), True))))),
        ),
    )
    found = 0
    for each in (CD, type):
        filters = {number: generate.filter(r, each) for number in range(150)}
        index = MatchIndex()
        for number, filter in filters.items():
            index.add(number, filter)
        for gone in range(0, 150, 7):
            index.remove(gone)
            del filters[gone]
        summary = Summary.of(filters.values())
        for filter in list(filters.values())[:40]:
            event = generate.near(r, each, filter)
            matching = {n for n, f in filters.items() if f.matches(event)}
            assert set(index.match(event)) == matching
            assert not matching or summary.admits(event)
            found += sum("lower-case" in str(filters[n]) for n in matching)
    assert found > 100
