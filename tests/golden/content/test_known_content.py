"""What content makes of generated filters and of texts with a small fault: a change here must be meant.

If it is meant, write them anew with `python -m tests.golden content` and say in the change why they differ.
"""

import json

import pytest

from . import CONTENT, KNOWN, digests


@pytest.mark.parametrize("name", CONTENT)
def test_what_is_known_of_content_has_not_changed(name):
    lines = CONTENT[name]()
    known, now = json.loads(KNOWN.read_text())[name].split(), digests(lines).split()
    for old, new, line in zip(known, now, lines, strict=False):
        assert old == new, f"this line of {name!r} was not known so: {line[:3000]}"
    assert len(known) == len(now)


def test_every_known_case_is_one_that_is_made():
    assert json.loads(KNOWN.read_text()).keys() == CONTENT.keys()


def test_the_cases_hold_what_they_are_for():
    """Filters that match and that cover, complaints and their opposite, in good number."""
    said = " ".join(line for seed in range(8) for line in CONTENT[f"any {seed}"]())
    assert min(said.count("True"), said.count("False")) > 100
    texts = CONTENT["texts"]()
    wrong = sum("FilterError" in line for line in texts)
    assert 100 < wrong < len(texts) - 50
