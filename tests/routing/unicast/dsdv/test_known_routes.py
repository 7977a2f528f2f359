"""The compiled table of known routes finds the same news as a dict: no other entry changes a route."""

from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.routing.unicast.dsdv.known_routes import KnownRoutes, PlainKnownRoutes
from roamcast.routing.unicast.dsdv.messages import HALF, HIGHEST_SEQUENCE, INFINITY

NODES = st.one_of(st.integers(0, 20), st.integers(0, HIGHEST_SEQUENCE))
METRICS = st.one_of(st.integers(0, 5), st.integers(INFINITY - 2, INFINITY))
SEQUENCES = st.one_of(
    st.integers(0, 5),
    st.integers(HALF - 2, HALF + 2),
    st.integers(HIGHEST_SEQUENCE - 3, HIGHEST_SEQUENCE),
)
ROUTES = st.lists(st.tuples(NODES, SEQUENCES, METRICS))
ENTRIES = st.lists(st.tuples(NODES, METRICS, SEQUENCES)).map(tuple)


@given(ROUTES, st.lists(NODES), ENTRIES)
@example([(7, 4, 2)], [], ((7, 0, 4), (7, 1, 4), (7, INFINITY, 2)))
def test_the_compiled_table_and_the_dict_find_the_same_news(routes, lost, entries):
    tables = KnownRoutes(INFINITY), PlainKnownRoutes(INFINITY)
    for table in tables:
        for destination, sequence, metric in routes:
            table.set(destination, sequence, metric)
        for destination in lost:
            table.discard(destination)
    compiled, plain = tables
    assert len(compiled) == len(plain) == len({each[0] for each in routes} - set(lost))
    assert compiled.news(entries) == plain.news(entries)


@given(st.integers(0, HIGHEST_SEQUENCE), st.integers(0, HIGHEST_SEQUENCE), METRICS, METRICS)
@example(3, 3 + HALF, 1, INFINITY)
def test_an_entry_is_news_if_it_is_fresher_or_shorter_or_reports_a_working_route_as_broken(
    known, result, length, metric
):
    table = KnownRoutes(INFINITY)
    table.set(1, known, length)
    ahead = (result - known) % 2**32
    expected = (
        0 < ahead < HALF
        or (ahead == 0 and metric + 1 < length)
        or (ahead >= HALF and metric == INFINITY and length < INFINITY)
    )
    assert bool(table.news(((1, metric, result),))) == expected
    assert table.news(((2, metric, result),)), "an unknown destination"
