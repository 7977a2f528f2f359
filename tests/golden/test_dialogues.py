"""What routers say, let go, tell of themselves and remember when a lot goes wrong: a change must be meant.

If it is meant, write it down anew with `python -m tests.golden` and say in the change why it differs.
"""

import json

import pytest

from roamcast.routing.reference import own_protocols

from .dialogues import DIALOGUES, digests, second_of
from .runs import HERE

WHAT = ("says", "lets go", "gets", "table")
KNOWN = json.loads((HERE / "dialogues.json").read_text())


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_known_dialogue_has_not_changed(name):
    lines = DIALOGUES[name].play()
    if name.endswith("-usual"):
        assert min(sum(f" {what} " in line for line in lines) for what in WHAT) > 100
    now = digests(lines)
    if now != KNOWN[name]:
        other = next(
            second for second in {**KNOWN[name], **now} if now.get(second) != KNOWN[name].get(second)
        )
        result = "\n".join(line for line in lines if second_of(line) == other)
        pytest.fail(f"{name} differs first in second {other}, which is now:\n{result[:6000]}", pytrace=False)


def test_every_protocol_of_the_catalogue_has_dialogues_and_none_is_left_of_others():
    assert {dialogue.protocol for dialogue in DIALOGUES.values()} == set(own_protocols())
    assert KNOWN.keys() == DIALOGUES.keys()
