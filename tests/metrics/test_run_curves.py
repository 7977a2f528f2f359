"""Curves of runs: shares over all that was expected, and delays over what all protocols delivered."""

import numpy as np
import pyarrow as pa
import pytest

from roamcast.metrics.run_curves import (
    BINS,
    DELAYS,
    connectivity_over_time,
    delivered_over_time,
    delivered_within,
    load_over_time,
    mean_common_delays,
    pair_deliveries,
)


def tables(delivered, expected=((1, 2), (1, 3), (2, 3)), published=((1, 20.0), (2, 60.0))):
    """Facts of publications 1 and 2 of node 0; `delivered` has publication, node and time."""

    def table(rows, **types):
        columns = list(zip(*rows, strict=True)) or [()] * len(types)
        return pa.table({n: pa.array(c, t) for (n, t), c in zip(types.items(), columns, strict=True)})

    legs = [(node, 0.0, 100.0, 10.0 * node, 0.0, 10.0 * node, 0.0) for node in range(4)]
    leg = dict.fromkeys(("start", "end", "x0", "y0", "x1", "y1"), pa.float64())
    return {
        "publications": table(published, publication=pa.int64(), time=pa.float64()),
        "expectations": table(expected, publication=pa.int64(), node=pa.int32()),
        "deliveries": table(delivered, publication=pa.int64(), node=pa.int32(), time=pa.float64()),
        "transmissions": table([(5.0, 2.0), (99.9, 1.0)], time=pa.float64(), airtime=pa.float64()),
        "legs": table(legs, node=pa.int32(), **leg),
    }


def test_a_curve_ends_at_the_share_of_all_that_was_expected():
    pairs = pair_deliveries(tables([(1, 2, 21.0), (1, 2, 20.5), (1, 9, 20.1), (2, 3, 90.0)]), 0.0)
    assert sorted(pairs.delay.tolist()) == [0.5, 30.0, np.inf]
    within = dict(zip(DELAYS.round(6), delivered_within(pairs), strict=True))
    assert within[0.1] == 0 and within[1.0] == pytest.approx(1 / 3, abs=1e-6)
    assert within[1000.0] == pytest.approx(2 / 3, abs=1e-6)


def test_the_warm_up_is_left_out_and_the_deadline_counts_over_time():
    facts = tables([(1, 2, 20.5), (2, 3, 65.0)])
    assert len(pair_deliveries(facts, 50.0).delay) == 1
    pairs = pair_deliveries(facts, 0.0)
    over = delivered_over_time(pairs, 100.0, None)
    assert len(over) == BINS and [value for value in over if value is not None] == [0.5, 1.0]
    assert [v for v in delivered_over_time(pairs, 100.0, 2.0) if v is not None] == [0.5, 0.0]


def test_load_is_airtime_per_second():
    load = load_over_time(tables([]), 100.0)
    assert (
        load[2] == pytest.approx(2.0 / 2.5)
        and load[-1] == pytest.approx(1.0 / 2.5)
        and sum(map(bool, load)) == 2
    )


@pytest.mark.parametrize(("range", "share"), [(10.5, 1.0), (9.5, 0.0)])
def test_connectivity_is_the_share_of_what_was_wanted_with_a_path(range, share):
    facts = tables([])
    found = connectivity_over_time(facts, pair_deliveries(facts, 0.0), 4, range, 100.0)
    assert {value for value in found if value is not None} == {share}


def test_delays_are_compared_on_what_all_delivered():
    quick_but_few = pair_deliveries(tables([(1, 2, 20.1)]), 0.0)
    slow_but_all = pair_deliveries(tables([(1, 2, 20.05), (1, 3, 30.0), (2, 3, 99.0)]), 0.0)
    assert mean_common_delays([quick_but_few, slow_but_all]) == pytest.approx([0.1, 0.05])
    nothing = pair_deliveries(tables([]), 0.0)
    assert mean_common_delays([nothing, slow_but_all]) is None and mean_common_delays([]) is None
    assert mean_common_delays([slow_but_all], 12.0) == pytest.approx([(0.05 + 10.0) / 2])


def test_counted_expectations_have_no_pairs():
    assert pair_deliveries(tables([], expected=((1, -7),)), 0.0) is None
