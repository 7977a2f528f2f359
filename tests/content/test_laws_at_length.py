"""The laws again, on thousands of plainly random cases; run by make validate."""

import os
from random import Random

import pytest

from roamcast.content.errors import ContentError

from . import generate, test_grouping, test_laws, test_match, test_summary

LAWS = [
    test_laws.test_covers_is_reflexive_and_transitive,
    test_laws.test_what_covers_matches_whatever_the_covered_matches,
    test_laws.test_a_no_of_covers_has_a_witness,
    test_laws.test_a_no_of_covers_has_a_witness_for_disjunctions_too_while_they_are_small,
    test_laws.test_intersects_has_a_witness_or_none,
    test_laws.test_simplify_merge_and_logic_change_no_answer,
    test_laws.test_text_and_bytes_give_the_filter_back,
    test_match.test_the_index_equals_the_loop_after_any_adds_and_removes,
    test_summary.test_a_summary_never_says_no_wrongly_however_it_is_made,
    test_grouping.test_the_hull_covers_in_one_conjunction,
    test_grouping.test_the_graph_is_the_hasse_diagram_of_covering,
]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__.removeprefix("test_"))
def test_at_length(law):
    for seed in range(3000):
        try:
            law.hypothesis.inner_test(Random(f"at length/{seed}"))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


ASKED = int(os.environ.get("ROAMCAST_COVERING", "20000"))


@pytest.mark.slow
def test_covering_is_never_wrong_on_sampled_events_and_what_it_misses_is_counted():
    r = Random("covering at length")
    yes = missed = undecided = 0
    for _ in range(ASKED):
        type = generate.any_type(r)
        a = generate.filter(r, type)
        b = test_laws.narrower(r, type, a)
        if a.covers(b):
            yes += not b.empty
            for _ in range(4):
                event = generate.near(r, type, b)
                assert a.matches(event) or not b.matches(event), (str(a), str(b), event)
            continue
        try:
            missed += (b & ~a).example() is None
        except ContentError:
            undecided += 1
    print(f"{ASKED} asked, {yes} covered, {missed} missed, {undecided} without an answer")
    assert yes > ASKED / 10
    assert missed + undecided <= ASKED / 1000
