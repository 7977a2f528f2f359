"""Those who want the same filter: one entry of the match index, and their keys."""

import gc
import sys
import weakref
from random import Random

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType

from .test_match import Loop, T, same, some_event


def test_those_who_share_a_filter_come_and_go_one_by_one():
    r = Random("shared")
    type = EventType("T", {"a": Integer()})
    index, wanted = MatchIndex(), {}
    for step in range(400):
        key = r.randrange(30)
        if key in wanted and r.random() < 0.5:
            assert index.remove(key)
            del wanted[key]
        else:
            wanted[key] = r.randrange(3)
            index.add(key, type.a == wanted[key])
        for value in range(3):
            expected = sorted(key for key, each in wanted.items() if each == value)
            assert sorted(index.match(type(a=value))) == expected, step


def test_those_who_want_the_same_are_one_entry_whatever_it_is():
    """Of spans, words, lists, patterns and alternatives: what is stored is compared."""
    wanted = [
        lambda: T.n >= 3,
        lambda: (T.n == 1) | (T.n == 7),
        lambda: T.s == "word",
        lambda: T.s.isin(["a", "b"]),
        lambda: T.s.startswith("w") & ~T.t.contains("x"),
        lambda: (T.e == "v1") | (T.s == "word"),
        lambda: Filter.everything(T),
        lambda: Filter.nothing(T),
        lambda: ~T.t.exists(),
        lambda: (T.d <= 0.0) & T.n.exists(),
    ]
    index, loop = MatchIndex(), Loop()
    sizes = []
    for round in range(100):
        for number, make in enumerate(wanted):
            index.add((number, round), make())
            loop.add((number, round), make())
        sizes.append(index.bytes())
    each = (sizes[-1] - sizes[0]) / (99 * len(wanted))
    assert each < 40, f"{each} bytes for each who joins"
    r = Random("same")
    for _ in range(50):
        event = some_event(r)
        same(index, loop, event)
        assert len(index.match(event)) % 100 == 0


def test_filters_that_differ_in_one_detail_are_two_entries():
    """Nearly equal ones, of which a careless comparison would take one for the other."""
    near = [
        [T.n >= 3, (T.n >= 3) | ~T.n.exists(), T.n >= 4, (T.n >= 3) & (T.n < 9)],
        [T.s == "word", T.s == "wor", T.t == "word", (T.t == "word") | ~T.t.exists()],
        [T.s.startswith("w"), T.s.endswith("w"), T.s.contains("w"), ~T.s.contains("w")],
        [T.s.isin(["a", "b"]), T.s.isin(["a", "c"]), T.s.isin(["ab"])],
        [(T.e == "v1") | (T.s == "a"), (T.e == "v1") & (T.s == "a"), (T.e == "v2") | (T.s == "a")],
    ]
    index, loop = MatchIndex(), Loop()
    for filters in near:
        for filter in filters:
            index.add(filter, filter)
            loop.add(filter, filter)
    for n in (None, 3, 4, 9):
        for s in ("word", "wor", "w", "a", "b", "c", "ab", "xw", "xwx"):
            for t in (None, "word"):
                for e in ("v1", "v2"):
                    given = {"d": 0, "e": e, "s": s}
                    given |= {} if n is None else {"n": n}
                    given |= {} if t is None else {"t": t}
                    same(index, loop, T(given))


class Named:
    """A key that can be watched, and lead back to the index that it is in."""

    index = None


def test_keys_are_let_go_with_their_filters_and_with_the_index():
    key = Named()
    index = MatchIndex()
    before = sys.getrefcount(key)
    index.add(key, T.n >= 3)
    index.add("other", T.n >= 3)
    assert sys.getrefcount(key) == before + 2  # the kernel's and the table's
    found = index.match(T({"n": 5, "d": 0, "e": "v1", "s": ""}))
    assert sys.getrefcount(key) == before + 3
    del found
    index.remove(key)
    assert sys.getrefcount(key) == before
    index.add(key, T.n >= 3)
    del index
    gc.collect()
    assert sys.getrefcount(key) == before


@pytest.mark.parametrize("others", [0, 1])
def test_an_index_whose_keys_lead_back_to_it_is_collected(others):
    key, index = Named(), MatchIndex()
    key.index = index
    index.add(key, T.n >= 3)
    for number in range(others):
        index.add(number, T.n >= 3)
    gone = weakref.ref(key)
    del key, index
    gc.collect()
    assert gone() is None
