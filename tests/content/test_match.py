"""The match index against its slow twin, the loop over all filters."""

import gc
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roamcast._kernel import MatchIndex as KernelIndex
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex, repeating
from roamcast.content.match import index as index_module
from roamcast.content.match.scan import ScanIndex
from roamcast.content.schema import EventType

from . import generate


class Loop:
    """Asks every filter."""

    def __init__(self):
        self.filters = {}

    def add(self, key, filter):
        self.filters[key] = filter

    def remove(self, key):
        return self.filters.pop(key, None) is not None

    def match(self, event):
        return {key for key, filter in self.filters.items() if filter.matches(event)}


def same(index, loop, event):
    found = index.match(event)
    assert len(found) == len(set(found))
    assert set(found) == loop.match(event)
    assert len(index) == len(loop.filters)


@pytest.fixture(params=["kernel", "scan"])
def either(request, monkeypatch):
    """The index with the compiled kernel, and without it."""
    if request.param == "scan":
        monkeypatch.setattr(index_module, "FieldIndex", ScanIndex)
        monkeypatch.setattr(repeating, "FieldIndex", ScanIndex)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(r=st.randoms(use_true_random=False))
def test_the_index_equals_the_loop_after_any_adds_and_removes(either, r):
    types = [generate.any_type(r), generate.event_type(r)]
    index, loop = MatchIndex(), Loop()
    for _ in range(r.randint(0, 40)):
        key = r.randrange(12)
        if r.random() < 0.3:
            assert index.remove(key) == loop.remove(key)
        else:
            filter = generate.filter(r, r.choice(types))
            index.add(key, filter)
            loop.add(key, filter)
        same(index, loop, generate.event(r, r.choice(types)))


T = EventType(
    "T",
    {
        "n": Integer(),
        "d": Decimal(),
        "e": Enumeration(tuple(f"v{n}" for n in range(40))),
        "s": String(),
        "t": String(),
    },
    optional=("n", "t"),
)


def some_filter(r):
    """One of few signatures, so that partitions grow past their small form and are rebuilt."""
    words = [f"word{r.randint(0, 30)}", f"{r.choice('abc')}{r.randint(0, 9)}"]
    low = r.randint(-50, 50)
    parts = [
        (T.n >= low) & (T.n < low + r.choice([1, 5, 40])),
        T.n != low,
        (T.d > low / 4) & (T.d <= low / 4 + r.random()),
        T.e == f"v{r.randint(0, 39)}",
        T.s == r.choice(words),
        T.s.isin(words),
        T.s.startswith(r.choice(words)[: r.randint(1, 5)]),
        T.s.endswith(str(r.randint(0, 9))),
        ~T.t.contains("a"),
        ~T.t.exists(),
    ]
    chosen = r.choice([[0, 4], [0, 5], [1, 6], [2, 3], [2, 7], [3, 8], [9], [0, 2, 3, 4], []])
    wanted = Filter.everything(T)
    for place in chosen:
        wanted = wanted & parts[place]
    return wanted | (wanted & parts[3]) | parts[4] if r.random() < 0.1 else wanted


def some_event(r):
    word = r.choice([f"word{r.randint(0, 30)}", f"{r.choice('abc')}{r.randint(0, 9)}"])
    values = {"d": r.randint(-200, 200) / 16, "e": f"v{r.randint(0, 39)}", "s": word}
    if r.random() < 0.8:
        values["n"] = r.randint(-55, 60)
    if r.random() < 0.5:
        values["t"] = r.choice(["", "abc", "xyz"])
    return T(values)


@pytest.mark.parametrize("seed", range(3))
def test_the_index_equals_the_loop_when_it_grows_large_and_shrinks_again(seed):
    r = Random(seed)
    index, loop = MatchIndex(), Loop()
    next_key = 0
    for adds, removes in [(1500, 200), (800, 900), (100, 1200), (900, 100)]:
        for _ in range(adds):
            filter = some_filter(r)
            index.add(next_key, filter)
            loop.add(next_key, filter)
            next_key += 1
        for _ in range(30):
            same(index, loop, some_event(r))
        for key in r.sample(sorted(loop.filters), min(removes, len(loop.filters))):
            assert index.remove(key)
            assert loop.remove(key)
        for _ in range(30):
            same(index, loop, some_event(r))


def test_what_is_removed_leaves_no_memory_behind():
    """Subscribers that come and go with ever other sets of fields and ever other words."""
    type = EventType("T", {f"s{n}": String() for n in range(12)})
    index, loop = MatchIndex(), Loop()
    r = Random(4)
    sizes = []
    for round in range(8):
        for key in range(400):
            wanted = Filter.everything(type)
            for n in r.sample(range(12), r.randint(1, 6)):
                wanted = wanted & (type[f"s{n}"] == f"word {round} {r.randrange(3)} long enough for the heap")
            wanted = wanted | (type.s0 == str(key)) | (type.s0 == str(key + 1)) & (type.s1 == "x")
            index.add(key, wanted)
            loop.add(key, wanted)
        for key in range(20):
            same(index, loop, type({f"s{n}": str(key) if n == 0 else "x" for n in range(12)}))
        for key in range(round % 3, 400):
            assert index.remove(key)
            assert loop.remove(key)
        same(index, loop, type({f"s{n}": "0" for n in range(12)}))
        sizes.append(index.bytes())
    assert max(sizes[3:]) <= 1.2 * max(sizes[:3])
    for key in loop.filters:
        index.remove(key)
    assert index.match(type({f"s{n}": "0" for n in range(12)})) == []


def test_the_order_depends_on_adds_and_removes_alone():
    def build():
        r = Random(1)
        index = MatchIndex()
        for key in range(2000):
            index.add(key, some_filter(r))
            if key % 3 == 0:
                index.remove(key // 2)
        return [index.match(some_event(r)) for _ in range(20)]

    assert build() == build()


def test_a_key_has_one_filter_and_nothing_matches_after_all_are_gone():
    index = MatchIndex()
    index.add("a", T.e == "v1")
    index.add("a", T.e == "v2")
    event = T({"d": 0, "e": "v1", "s": ""})
    assert index.match(event) == []
    index.add("a", Filter.nothing(T))
    assert index.match(event) == []
    index.add("b", Filter.everything(T))
    assert index.match(event) == ["b"]
    assert index.remove("a")
    assert not index.remove("a")
    assert index.remove("b")
    assert index.match(event) == []
    assert len(index) == 0


def test_the_kernel_refuses_what_is_of_another_type_and_numbers_that_nobody_has():
    kernel = KernelIndex("i")
    quote = EventType("quote", {"price": Integer(), "size": Integer()})
    number = kernel.add("a", (quote.price > 5).conjunctions)
    with pytest.raises(ValueError, match="another type"):
        kernel.match((1, 2))
    with pytest.raises(ValueError, match="another type"):
        kernel.add("b", (quote.size > 5).conjunctions)
    assert not kernel.remove(number + 1)
    assert kernel.match((6,)) == ["a"]
    assert kernel.remove(number)
    assert not kernel.remove(number)
    assert kernel.match((6,)) == []


@pytest.mark.parametrize("collecting", [True, False])
def test_matching_leaves_the_garbage_collector_as_it_was(collecting):
    index = MatchIndex()
    quote = EventType("quote", {"price": Integer()})
    for key in range(3):
        index.add(key, quote.price > 5)
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        assert sorted(index.match(quote(price=6))) == [0, 1, 2]
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
