"""The cover that is kept up to date against its slow twin, the one that is computed anew."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.covering import MinimalCover, RelationCache
from roamcast.content.covering.candidates import FEW
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType

from . import generate

T = EventType(
    "T",
    {"n": Integer(), "d": Decimal(), "e": Enumeration(("pop", "jazz", "folk")), "s": String(), "t": String()},
    optional=("n", "t"),
)


def some_filter(r, parts=(0, 1, 1, 2, 2, 3), values=9):
    """Of few values, so that many cover each other and some mean the same in other words."""
    low = r.randint(0, values)
    choices = [
        lambda: (T.n >= low) & (T.n <= low + r.choice([0, 1, 3, 9])),
        lambda: T.n != low,
        lambda: (T.d > low / 4) & (T.d <= low / 4 + r.choice([0.5, 1, 4])),
        lambda: T.e == r.choice(["pop", "jazz", "folk"]),
        lambda: T.e != r.choice(["pop", "jazz", "folk"]),
        lambda: T.s == f"word{low}",
        lambda: T.s.isin([f"word{low}", f"word{r.randint(0, 9)}"]),
        lambda: T.s.startswith(f"word{low}"[: r.randint(1, 5)]),
        lambda: T.s.endswith(str(low)),
        T.t.exists,
        lambda: ~T.t.exists(),
    ]
    wanted = Filter.everything(T)
    for choice in r.sample(choices, r.choice(parts)):
        wanted = wanted & choice()
    return wanted


class History:
    """Filters that come and go: wider and narrower ones than those that are there, and strangers."""

    def __init__(self, r, lapses=0.1, **shape):
        self.r = r
        self.lapses = lapses
        self.shape = shape
        self.other = generate.any_type(r)
        self.alive = {}

    def next_filter(self):
        r = self.r
        roll = r.random()
        if self.alive and roll < 0.5:
            near = r.choice(list(self.alive))
            if near.type is T and len(near.conjunctions) < 3:
                return near & self.stranger() if roll < 0.25 else near | self.stranger()
        return generate.filter(r, self.other) if roll > 0.9 else self.stranger()

    def stranger(self):
        return some_filter(self.r, **self.shape)

    def step(self, cover):
        r = self.r
        roll = r.random()
        if roll < 0.6 or not self.alive:
            filter = self.next_filter()
            self.alive.setdefault(filter)
            assert cover.add(filter) == cover.is_minimal(filter)
        elif roll < 1 - self.lapses:
            gone = r.choice(list(self.alive))
            del self.alive[gone]
            cover.discard(gone)
        else:
            lapsed = set(r.sample(list(self.alive), r.randint(0, len(self.alive))))
            self.alive = {filter: None for filter in self.alive if filter not in lapsed}
            new = [self.next_filter() for _ in range(r.randint(0, 5))]
            self.alive |= dict.fromkeys(filter for filter in new if filter not in lapsed)
            cover.replace_all(self.alive)


def twin(alive):
    return RelationCache().minimal_cover(alive)


@pytest.mark.parametrize("few", [0, 4, FEW])
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=True))
def test_a_cover_kept_up_to_date_equals_one_computed_anew(few, r):
    history, cover = History(r), MinimalCover(few=few)
    for _ in range(r.randint(1, 40)):
        history.step(cover)
        expected = twin(history.alive)
        assert cover.minimal() == expected
        assert [filter for filter in history.alive if cover.is_minimal(filter)] == expected
        assert list(cover) == list(history.alive)
        asked = history.next_filter()
        assert cover.covers(asked) == any(wide.covers(asked) for wide in history.alive)
        assert set(cover.covering(asked)) == {wide for wide in expected if wide.covers(asked)}


@pytest.mark.parametrize("seed", range(2))
def test_the_same_when_hundreds_come_and_go(seed):
    history, cover = History(Random(seed), 0.001, parts=(2, 3, 3, 4), values=50), MinimalCover()
    held_back, flowed_again, largest = 0, 0, 0
    for _ in range(2000):
        there, before = set(cover), set(cover.minimal())
        history.step(cover)
        minimal = cover.minimal()
        held_back += len(cover) - len(minimal)
        flowed_again += len([filter for filter in minimal if filter in there and filter not in before])
        largest = max(largest, len(minimal))
    assert cover.minimal() == twin(history.alive)
    # The history is worth its name: filters were held back, and stood for themselves when their covers went.
    assert held_back > 1000
    assert flowed_again > 50
    assert largest > 2 * FEW


def test_of_equals_the_first_stands_for_the_others_and_the_next_takes_its_place():
    plain = T.n <= 5
    verbose = plain | (plain & (T.d <= 1))
    assert plain.equivalent(verbose) and plain != verbose
    cover = MinimalCover([verbose, plain])
    assert cover.minimal() == [verbose]
    cover.discard(verbose)
    assert cover.minimal() == [plain]
    cover.add(verbose)
    assert cover.minimal() == [plain]


def test_the_first_of_equals_is_found_again_when_their_common_cover_goes():
    wide, plain = T.n <= 9, T.n <= 5
    verbose = plain | (plain & (T.d <= 1))
    cover = MinimalCover([plain, wide, verbose])
    cover.discard(wide)
    assert cover.minimal() == [plain]


def test_what_matches_nothing_is_covered_by_anything():
    nothing = Filter.nothing(T)
    cover = MinimalCover([nothing])
    assert cover.minimal() == [nothing]
    assert cover.add(T.n == 1)
    assert cover.minimal() == [T.n == 1]
    cover.discard(T.n == 1)
    assert cover.minimal() == [nothing]


def test_filters_far_from_each_other_are_not_compared(monkeypatch):
    cover = MinimalCover((T.n == n) & (T.s == f"word{n}") for n in range(1000))
    asked = []
    real = Filter.covers
    monkeypatch.setattr(Filter, "covers", lambda a, b: asked.append((a, b)) or real(a, b))
    cover.add((T.n >= 500) & (T.n <= 502))
    assert len(cover.minimal()) == 998
    cover.add((T.n == 2000) & (T.s == "word2000"))
    cover.discard((T.n >= 500) & (T.n <= 502))
    assert len(cover.minimal()) == 1001
    assert len(asked) < 20
