"""The laws of filters, on generated types, filters and events; r shrinks with hypothesis."""

import itertools
import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.box import glob
from roamcast.content.box.string_set import StringSet
from roamcast.content.codec import decode_event, encode_event
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter

from . import generate

randoms = st.randoms(use_true_random=False)
laws = settings(max_examples=200, deadline=None)


def conjunction(r, type):
    wanted = generate.filter(r, type)
    if wanted.empty:
        return wanted
    return Filter(type, (r.choice(wanted.conjunctions),))


def narrower(r, type, wanted):
    """A filter that is likely, but not sure, to be covered by `wanted`."""
    return (wanted & generate.filter(r, type)) if r.random() < 0.6 else generate.filter(r, type)


@laws
@given(randoms)
def test_covers_is_reflexive_and_transitive(r):
    type = generate.any_type(r)
    a = generate.filter(r, type)
    b = narrower(r, type, a)
    c = narrower(r, type, b)
    assert a.covers(a)
    assert pickle.loads(pickle.dumps(a)).covers(a)
    if a.covers(b) and b.covers(c):
        assert a.covers(c)


@laws
@given(randoms)
def test_what_covers_matches_whatever_the_covered_matches(r):
    type = generate.any_type(r)
    a = generate.filter(r, type)
    b = narrower(r, type, a)
    event = generate.near(r, type, b)
    if a.covers(b) and b.matches(event):
        assert a.matches(event)


@laws
@given(randoms)
def test_a_no_of_covers_has_a_witness(r):
    type = generate.any_type(r)
    a, b = conjunction(r, type), conjunction(r, type)
    witness = (b & ~a).example()
    assert a.covers(b) == (witness is None)
    if witness is not None:
        assert b.matches(witness)
        assert not a.matches(witness)


@laws
@given(randoms)
def test_a_no_of_covers_has_a_witness_for_disjunctions_too_while_they_are_small(r):
    type = generate.any_type(r)
    a = generate.filter(r, type)
    b = narrower(r, type, a)
    witness = (b & ~a).example()
    assert a.covers(b) == (witness is None)
    if witness is not None:
        assert b.matches(witness)
        assert not a.matches(witness)


@laws
@given(randoms)
def test_intersects_has_a_witness_or_none(r):
    type = generate.any_type(r)
    a, b = generate.filter(r, type), generate.filter(r, type)
    witness = (a & b).example()
    assert a.intersects(b) == b.intersects(a) == (witness is not None)
    if witness is not None:
        assert a.matches(witness)
        assert b.matches(witness)


@laws
@given(randoms)
def test_simplify_merge_and_logic_change_no_answer(r):
    type = generate.any_type(r)
    a, b = generate.filter(r, type), generate.filter(r, type)
    for event in (generate.event(r, type), generate.near(r, type, a), generate.near(r, type, b)):
        in_a, in_b = a.matches(event), b.matches(event)
        assert (a | b).matches(event) == (in_a or in_b)
        assert (a | b).simplify().matches(event) == (in_a or in_b)
        assert a.merge(b).matches(event) == (in_a or in_b)
        assert (a & b).matches(event) == (in_a and in_b)
        assert (~a).matches(event) == (not in_a)
    assert len(a.merge(b).conjunctions) <= len((a | b).conjunctions)
    assert a.merge(b).covers(a)
    assert a.merge(b).equivalent(a | b)


@laws
@given(randoms)
def test_text_and_bytes_give_the_filter_back(r):
    type = generate.any_type(r)
    wanted = generate.filter(r, type)
    assert Filter.parse(str(wanted), type) == wanted
    assert Filter.from_bytes(wanted.to_bytes(), {"T": type}) == wanted
    event = generate.event(r, type)
    assert decode_event(encode_event(event), type) == event
    assert Event.from_json(event.to_json(), type) == event
    assert Event.of(type, event.to_mapping()) == event


@laws
@given(randoms, st.binary(max_size=60))
def test_bytes_are_a_filter_written_one_way_or_refused(r, noise):
    type = generate.any_type(r)
    data = bytearray(generate.filter(r, type).to_bytes())
    for _ in range(r.randint(0, 3)):
        if len(data) > 8:
            data[r.randrange(8, len(data))] = r.randrange(256)
    for attempt in (bytes(data), type.fingerprint + noise, bytes(data)[: r.randint(0, len(data))]):
        for read, write in ((Filter.from_bytes, Filter.to_bytes), (decode_event, encode_event)):
            try:
                found = read(attempt, type)
            except ContentError:
                continue
            assert write(found) == attempt


words = st.lists(st.sampled_from(["", "a", "b", "ab"]), min_size=1, max_size=4).map(tuple).map(glob.tidy)
globs = st.lists(words, max_size=3)


@settings(max_examples=400, deadline=None)
@given(globs, globs)
def test_a_witness_is_found_whenever_a_short_string_would_do(like, unlike):
    found = glob.witness(tuple(sorted(set(like))), tuple(sorted(set(unlike))))
    if found is not None:
        assert all(glob.fits(g, found) for g in like)
        assert not any(glob.fits(g, found) for g in unlike)
    else:
        for length in range(6):
            for letters in itertools.product("abx", repeat=length):
                text = "".join(letters)
                assert not all(glob.fits(g, text) for g in like) or any(glob.fits(g, text) for g in unlike)


@given(globs, globs)
def test_the_complement_of_a_set_of_strings_is_exact(like, unlike):
    texts = StringSet.where(like, unlike)
    rest = texts.outside(StringSet())
    for length in range(4):
        for letters in itertools.product("abx", repeat=length):
            text = "".join(letters)
            assert texts.has(text) != any(other.has(text) for other in rest)
            assert texts.test()(text) == texts.has(text)


def test_undecided_questions_are_answered_on_the_safe_side(monkeypatch):
    like = [("", "ab", ""), ("", "ba", "")]
    apart = [("", "ab", "ba", ""), ("", "ba", "ab", "")]
    overlapping = [("", "aba", ""), ("", "bab", "")]
    glob.witness.cache_clear()
    assert StringSet.where(like, apart + overlapping).empty
    assert StringSet.of(["aba", "bab"]).intersects(StringSet.where(like, apart))
    monkeypatch.setattr(glob, "STEP_LIMIT", 2)
    glob.witness.cache_clear()
    undecided = StringSet.where(like, apart + overlapping)
    assert not undecided.empty
    assert not StringSet.of([]).covers(undecided)
    assert undecided.intersects(StringSet.where([("", "ab", "")]))
    assert not undecided.has("aba")
    glob.witness.cache_clear()
