"""What a router has seen: the compiled set, and the one without a kernel, against a dict of a few lines."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.state.plain_seen import PlainSeen
from roamcast.routing.state.seen import Recent, Seen

# Few numbers, so that they come again; and such as share their low or high bits, so that places collide.
NUMBERS = st.one_of(
    st.integers(0, 12), st.integers(0, 40).map(lambda n: n << 32), st.integers(-(2**63), 2**64 - 1)
)


class Twin:
    def __init__(self, limit):
        self.limit = limit
        self.numbers = {}

    def add(self, number):
        number %= 2**64
        if number in self.numbers:
            return False
        self.numbers[number] = None
        if len(self.numbers) > self.limit:
            del self.numbers[next(iter(self.numbers))]
        return True


@pytest.mark.parametrize("kind", [Seen, Recent, PlainSeen])
@given(st.integers(0, 9) | st.just(1000), st.lists(NUMBERS, max_size=200))
def test_it_knows_what_its_twin_knows(kind, limit, numbers):
    seen, twin = kind(limit), Twin(limit)
    for number in numbers:
        assert seen.add(number) == twin.add(number)
        assert len(seen) == len(twin.numbers)
        assert all((other in seen) == (other % 2**64 in twin.numbers) for other in numbers)


@pytest.mark.parametrize("readers", [40, 3000])
def test_many_sets_do_not_mix_what_few_and_what_most_of_them_have(readers):
    # Where there are thousands, what few have is kept as a list, what many have as bits.
    r = Random(readers)
    sets = [(Seen(limit), Twin(limit)) for limit in (r.choice((3, 200)) for _ in range(readers))]
    for number in range(120):
        having = r.sample(range(readers), r.choice((2, readers // 80 + 1, readers // 2, readers)))
        for reader in having:
            seen, twin = sets[reader]
            assert seen.add(number) == twin.add(number)
        if number % 40 == 39:
            for reader in r.sample(range(readers), readers // 10):
                sets[reader] = Seen(5), Twin(5)
        for reader in (*having[:20], *r.sample(range(readers), 20)):
            seen, twin = sets[reader]
            for asked in range(max(0, number - 60), number + 1):
                assert (asked in seen) == (asked in twin.numbers)


@pytest.mark.parametrize("limit", [1, 7, 8, 100, 1024])
def test_a_set_of_its_own_forgets_the_oldest_wherever_numbers_collide(limit):
    # Packets of few origins: numbers near each other, of which some come again.
    r = Random(limit)
    recent, twin = Recent(limit), Twin(limit)
    for _ in range(5 * limit + 200):
        number = r.randrange(4) << 24 | r.randrange(2 * limit) << 8 | r.randrange(3)
        assert recent.add(number) == twin.add(number)
    assert len(recent) == len(twin.numbers)
    assert all((number << 8 in recent) == (number << 8 in twin.numbers) for number in range(4 * limit))
    assert all(number in recent for number in twin.numbers)


@pytest.mark.parametrize("kind", [Seen, Recent, PlainSeen])
def test_it_takes_numbers_only(kind):
    with pytest.raises(TypeError):
        kind(3).add("1")
