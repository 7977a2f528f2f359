"""Contents: the filters of a run with the events that they match, and which messages carry events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from roamcast.facts.matching import Matcher
from roamcast.facts.tables import Facts, FactsError, RunManifest
from roamcast.why.trail.context import EVENT, message_role

MOST_MATCHES = 500_000
"Pairs of a filter and a content that are compared; less frequent filters are left out."


def match_filters(facts: Facts, contents: Sequence[str]) -> dict[str, list[int]]:
    """Return which of `contents` (events as JSON) each filter of the run matches, the most frequent first."""
    wanted = Counter(facts["interests"]["wanted"].to_pylist() + facts["requests"]["wanted"].to_pylist())
    found: dict[str, list[int]] = {}
    try:
        matcher = Matcher(facts.run)
        for filter, _ in wanted.most_common(MOST_MATCHES // max(len(contents), 1)):
            found[filter] = [
                number for number, event in enumerate(contents) if matcher.matches(filter, event)
            ]
    except FactsError:  # no event types, or a text that is none: the viewer still searches by text
        return found
    return found


def carries_event(run: RunManifest, category: str, kind: str) -> bool:
    """Return whether messages of a kind carry events, by the role that `run.json` records or the category."""
    return message_role(run, category, kind) == EVENT
