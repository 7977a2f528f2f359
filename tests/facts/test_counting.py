"""Expectations that are counted give the metrics of expectations that are listed."""

from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.schema import EventType
from roamcast.facts.recorder import Recorder
from roamcast.facts.tables import FactsError, RunManifest
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.delivery import DELIVERY
from roamcast.metrics.run_metrics import metric_input
from roamcast.routing.router import Publication
from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from roamcast.why.trail.integrity import check_integrity

STREET = Path(__file__).parents[1] / "golden" / "street.toml"
NEWS = EventType("news", {})({})
RUN = RunManifest(
    scenario="s", protocol="p", parameters={}, seed=1, version="0", nodes=6, duration=9.0, warmup=2.0,
    frames={}, drops={}, events_processed=0,
)  # fmt: skip
NODE = st.integers(0, 5)
HAPPENS = st.one_of(
    st.tuples(st.just("publish"), NODE, st.sets(NODE)),
    st.tuples(st.just("deliver"), st.integers(0, 9), NODE),
    st.just(("settle",)),
)


def record(history, *, count):
    """Take down publications, and deliveries of those, at a second each."""
    recorder = Recorder(count_expectations=count)
    published = []
    for time, (what, *rest) in enumerate(history):
        if what == "publish":
            publisher, wanting = rest
            published.append(Publication(publisher, len(published) + 1, NEWS, 9))
            recorder.publication(float(time), published[-1])
            recorder.expectations(published[-1].id, np.array(sorted(wanting), np.int32))
        elif what == "deliver" and published:
            recorder.delivery(published[rest[0] % len(published)].id, rest[1], float(time))
        elif what == "settle":
            recorder.flush()
    return recorder.facts(RUN)


@given(st.lists(HAPPENS, max_size=25))
def test_metrics_are_the_same_of_counts_and_of_rows(history):
    counted, listed = (record(history, count=count) for count in (True, False))
    assert evaluate(metric_input(counted), DELIVERY) == evaluate(metric_input(listed), DELIVERY)
    publications = [each for each in history if each[0] == "publish"]
    negative = [node for node in counted["expectations"]["node"].to_pylist() if node < 0]
    assert len(negative) <= len(publications)


def test_a_run_with_counts_has_the_metrics_of_the_run_with_rows(tmp_path):
    scenario = load(STREET)
    listed = simulate(scenario, "flooding", 3)
    counted = simulate(scenario, "flooding", 3, folder=tmp_path, count_expectations=True)
    alike = [evaluate(metric_input(facts)) for facts in (listed, counted)]
    assert alike[0]["expected"] > alike[0]["delivered"] > 0
    for name in ("reachable", "delivery_rate_reachable"):  # need to know which nodes expect an event
        assert alike[0].pop(name) > 0 and alike[1].pop(name) is None
    assert alike[0] == alike[1] and not isnan(alike[0]["delivery_rate"])
    for table in ("publications", "deliveries", "transmissions", "interests", "legs"):
        assert listed[table].equals(counted[table].combine_chunks().cast(listed[table].schema)), table
    check_integrity(listed)
    with pytest.raises(FactsError, match="without --count-expectations"):
        check_integrity(counted)
