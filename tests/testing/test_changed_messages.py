"""A changed message is of its kind, can be sent, and differs in one number."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.cbr.messages import Advert
from roamcast.routing.flooding import Flood
from roamcast.testing.changes import change_number, numbers_of
from roamcast.wire.codec import MessageCodec, encode
from roamcast.wire.message import generate
from tests.wire.inventing import TYPES, invention, messages_of_all_protocols

MESSAGES = messages_of_all_protocols()
WORDS = MessageCodec(MESSAGES, TYPES)


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
@given(st.integers(0, 2**32))
def test_one_number_is_changed_and_the_rest_stays(kind, seed):
    message = generate(kind, invention(Random(seed), MESSAGES))
    changed = change_number(message, Random(seed), range(5))
    if changed is None:
        return  # no numbers, or none that can be changed alone
    assert WORDS.decode(encode(changed)) == changed
    before, after = ([number.value for number in numbers_of(each)] for each in (message, changed))
    for value in after:
        if value in before:
            before.remove(value)
    assert len(before) <= 1  # the items of a set are sorted anew, and may become one


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_most_messages_can_be_changed(kind):
    made = [generate(kind, invention(Random(seed), MESSAGES)) for seed in range(20)]
    with_numbers = [message for message in made if list(numbers_of(message))]
    changed = [change_number(message, Random(1), range(5)) for message in with_numbers]
    assert sum(each is not None for each in changed) >= 0.7 * len(with_numbers)


def test_every_number_of_a_message_is_changed_now_and_then_and_serials_come_near_their_end():
    about = invention(Random(0), MESSAGES)
    advert = Advert(3, about.patterns[0], 2, 1000, 1)
    changed = [change_number(advert, Random(seed), range(5)) for seed in range(400)]
    for name in ("publisher", "hops", "serial", "incarnation"):
        assert sum(getattr(each, name) != getattr(advert, name) for each in changed) > 20
    serials = {each.serial for each in changed}
    assert {999, 1001, 1002, 2**32 - 1, 2**32 - 4, 0} <= serials
    assert any(abs(serial - 1000 - 2**31) <= 2 for serial in serials)
    flood = Flood(about.publications[0])
    assert len(list(numbers_of(flood))) == 3  # publisher, sequence number and hops
