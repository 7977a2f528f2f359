import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.metrics import measure
from roamcast.facts.recorder import Recorder
from roamcast.routing.router import Publication

from .conftest import NEWS, RUN


def test_a_small_run_by_hand(facts):
    m = measure(facts)
    assert (m.publications, m.expected, m.delivered, m.unexpected, m.duplicates) == (4, 6, 3, 1, 1)
    assert m.delivery_rate == 0.5
    assert m.delay_mean == pytest.approx((0.2 + 0.4 + 1.2) / 3)
    assert m.delay_p50 == pytest.approx(0.4)
    assert m.messages == {"event": 1, "subscription": 0, "routing": 1, "control": 1, "total": 3}


def test_the_json_object_has_the_promised_keys_and_no_nan():
    told = json.loads(measure(Recorder().facts(RUN)).to_json())
    promised = (
        "scenario protocol seed nodes sim_seconds delivery_rate delay_mean delay_p50 delay_p95 publications "
        "expected delivered duplicates messages frames cpu_seconds events_processed"
    )
    assert set(promised.split()) <= told.keys()
    assert told["delivery_rate"] is None
    assert told["messages"] == {"event": 0, "subscription": 0, "routing": 0, "control": 0, "total": 0}


node = st.integers(0, 3)
sent = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.floats(0, 50)), unique_by=lambda p: p[:2])


@given(
    sent,
    st.lists(st.tuples(st.integers(0, 5), node)),
    st.lists(st.tuples(st.integers(0, 5), node, st.floats(0, 50))),
)
def test_metrics_equal_their_slow_twin(published, expected, delivered):
    recorder = Recorder()
    ids = [Publication(p, s, NEWS).id for p, s, _ in published]
    for publisher, sequence, time in published:
        recorder.publication(time, Publication(publisher, sequence, NEWS))
    at = {id: time for id, (_, _, time) in zip(ids, published, strict=True)}
    expected = [(ids[i % len(ids)], n) for i, n in expected if ids]
    delivered = [(ids[i % len(ids)], n, at[ids[i % len(ids)]] + late) for i, n, late in delivered if ids]
    for id, n in expected:
        recorder.expectations(id, [n])
    for id, n, time in delivered:
        recorder.delivery(id, n, time)
    m = measure(recorder.facts(RUN))

    wanted = {(id, n) for id, n in expected if at[id] >= RUN.warmup}
    first = {}
    for id, n, time in sorted(delivered, key=lambda d: d[2]):
        if at[id] >= RUN.warmup:
            first.setdefault((id, n), time - at[id])
    delays = [delay for pair, delay in first.items() if pair in wanted]
    assert m.publications == sum(time >= RUN.warmup for time in at.values())
    assert (m.expected, m.delivered, m.unexpected) == (len(wanted), len(delays), len(first) - len(delays))
    assert m.duplicates == sum(at[id] >= RUN.warmup for id, _, _ in delivered) - len(first)
    if delays:
        assert m.delay_mean == pytest.approx(np.mean(delays))
        assert m.delay_p95 == pytest.approx(np.percentile(delays, 95))
    else:
        assert m.delay_mean is None
