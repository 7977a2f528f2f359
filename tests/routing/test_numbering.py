"""Numbers of packets: none twice, none that follows from those before it."""

from random import Random
from types import SimpleNamespace

import pytest

from roamcast.routing.numbering import PacketNumbers


def numbers(seed=1, incarnation=0, remember=65536):
    return PacketNumbers(SimpleNamespace(random=Random(seed), incarnation=incarnation), remember)


def test_none_is_used_twice_among_as_many_as_are_remembered():
    # Of 12,000 drawn from 24 bits four are there already, give or take two.
    drawn = numbers()
    assert len({drawn.take() for _ in range(12_000)}) == 12_000
    careless = numbers(remember=1)
    assert len({careless.take() for _ in range(12_000)}) < 12_000


@pytest.mark.parametrize("incarnation", [0, 3, 255, 259])
def test_the_upper_byte_is_the_incarnation(incarnation):
    drawn = numbers(incarnation=incarnation)
    assert {drawn.take() >> 24 for _ in range(100)} == {incarnation % 256}


def test_they_follow_from_what_the_host_alone_knows_and_leave_its_draws_as_they_are():
    same, again, other = numbers(seed=1), numbers(seed=1), numbers(seed=2)
    assert same._base == other._base
    drawn = [same.take() for _ in range(100)]
    assert drawn == [again.take() for _ in range(100)]
    assert set(drawn).isdisjoint(other.take() for _ in range(100))
    host = SimpleNamespace(random=Random(5), incarnation=0)
    PacketNumbers(host, 10).take()
    assert host.random.random() == Random(5).random()


def test_from_some_the_next_cannot_be_told_by_counting_on():
    drawn = numbers()
    steps = [
        after - before for before, after in zip(*[iter(drawn.take() for _ in range(200))] * 2, strict=True)
    ]
    assert len(set(steps)) > 95
