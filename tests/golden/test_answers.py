"""What content makes of known subscriptions: a change here changes how they are grouped and summed up.

If it is meant, write them anew with `python -m tests.golden answers` and say in the change why they differ.
"""

import json

import pytest

from .answers import ANSWERS
from .runs import HERE

KNOWN = json.loads((HERE / "answers.json").read_text())


@pytest.mark.parametrize("name", ANSWERS)
def test_a_known_answer_has_not_changed(name):
    assert json.loads(json.dumps(ANSWERS[name]())) == KNOWN[name]
