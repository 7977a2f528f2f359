"""What facts say is matched by the filters that routers match with."""

from pathlib import Path

import msgspec
import pytest

from roamcast.facts.matching import Matcher, event_types
from roamcast.facts.tables import Facts, FactsError

from .conftest import RUN

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["cbr", "dsdv-unicast", "flooding"])  # one of each scenario
def test_who_expects_an_event_is_who_wanted_it_at_that_moment(name):
    """The oracle's audiences, computed again from the facts alone."""
    facts = Facts.read(GOLDEN / name)
    matcher = Matcher(facts.run)
    changes = [("interest", row) for row in facts["interests"].to_pylist()]
    changes += [("publication", row) for row in facts["publications"].to_pylist()]
    # Of what happens at one moment, publications come last in these runs: interests change on looks.
    changes.sort(key=lambda change: (change[1]["time"], change[0] == "publication"))
    wanting, expected = {}, set()
    for kind, row in changes:
        if kind == "interest":
            key = row["node"], row["wanted"]
            wanting[key] = wanting.get(key, 0) + (1 if row["begins"] else -1)
            continue
        for (node, wanted), times in wanting.items():
            if times and node != row["publisher"] and matcher.matches(wanted, row["event"]):
                expected.add((row["publication"], node))
    recorded = {(row["publication"], row["node"]) for row in facts["expectations"].to_pylist()}
    assert recorded == expected
    assert len(recorded) > 100


def test_facts_without_event_types_or_with_nonsense_say_so():
    for resolved, complaint in (
        ({}, "the event types .resolved.workload.types. are missing"),
        ({"workload": {"types": {"alert": {"level": "colour"}}}}, "'colour' is not a field type"),
        ({"workload": {"types": {"alert": 7}}}, "invalid event types"),
    ):
        with pytest.raises(FactsError, match=complaint):
            event_types(msgspec.structs.replace(RUN, resolved=resolved))


def test_what_cannot_be_read_is_told_and_not_taken_for_no():
    resolved = {"workload": {"types": {"alert": {"level": "integer"}}}}
    matcher = Matcher(msgspec.structs.replace(RUN, resolved=resolved))
    assert matcher.matches("/alert[level > 3]", '{"alert":{"level":4}}')
    assert not matcher.matches("/alert[level > 3]", '{"alert":{"level":3}}')
    with pytest.raises(FactsError, match="filter in the facts cannot be read"):
        matcher.matches("/alarm", '{"alert":{"level":4}}')
    with pytest.raises(FactsError, match="event in the facts cannot be read"):
        matcher.matches("/alert[level > 3]", '{"alert":{"level":"high"}}')
