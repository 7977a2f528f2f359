"""The laws again, on thousands of plainly random cases; run by make validate."""

from random import Random

import pytest

from . import test_grouping, test_laws, test_match, test_summary

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
