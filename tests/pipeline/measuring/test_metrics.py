"""Every metric equals its slow twin on generated facts, and the generated facts are worth it."""

import metric_twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_facts import NODES, WARMUP, invent

from roamcast.facts.tables import Facts, MessageKind, RunManifest
from roamcast.metrics import declarations
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.pairs import pair_up
from roamcast.metrics.run_metrics import measure, metric_input

HEADER = 20


def facts_of(tables, warmup=WARMUP):
    run = RunManifest(
        scenario="s", protocol="p", parameters={}, seed=1, version="0", nodes=NODES, duration=100.0,
        warmup=warmup, range=250.0, frames={}, drops={}, events_processed=0,
        resolved={"mac": {"network_header": HEADER}},
        kinds={"CommunityBeacon": MessageKind("routing", "beacons")},
    )  # fmt: skip
    return Facts(run, tables)


def approx(expected):
    return {k: None if v is None else pytest.approx(v, rel=1e-12, abs=1e-12) for k, v in expected.items()}


def agree(seed, warmup=WARMUP):
    """Whether the metrics of invented facts equal those of the twins."""
    tables = invent(seed)
    return evaluate(metric_input(facts_of(tables, warmup))) == approx(
        metric_twins.measure(tables, warmup, 250.0, HEADER)
    )


@pytest.mark.parametrize("warmup", [0.0, WARMUP])
@pytest.mark.parametrize("seed", range(60))
def test_every_metric_equals_its_slow_twin(seed, warmup):
    tables = invent(seed)
    found = evaluate(metric_input(facts_of(tables, warmup)))
    assert found == approx(metric_twins.measure(tables, warmup, 250.0, HEADER))


@pytest.mark.parametrize("metric", METRICS)
def test_the_generated_facts_put_every_metric_to_the_test(metric):
    """Two cases in three have a value, and hardly two the same; else the law above would be about nothing."""
    found = [evaluate(metric_input(facts_of(invent(seed))), [metric])[metric] for seed in range(60)]
    result = [value for value in found if value is not None]
    assert len(result) > 40
    assert len(set(result)) > 12
    assert sum(value != 0 for value in result) > 25


MUTANTS = {
    "delay_p95": lambda of: of.pairs.percentile(96),
    "delay_p50": lambda of: of.pairs.percentile(51),
    "delay_mean": lambda of: of.pairs.percentile(50),
    "delivery_rate": lambda of: of.pairs.shares.mean() if len(of.pairs.shares) else None,
    "false_deliveries": lambda of: of.pairs.unexpected + of.pairs.duplicates,
    "fresh_rate": lambda of: of.requests.fresh.sum() / max(len(of.requests.satisfied), 1),
    "hit_rate": lambda of: 1 - of.requests.fresh.sum() / max(len(of.requests.satisfied), 1),
    "overhead": lambda of: of.transmissions.categories.total(),
    "messages_failed": lambda of: of.transmissions.failed + 1,
    "throughput": lambda of: len(of.pairs.delays) / 60.0,
    "bytes_control": lambda of: of.transmissions.bytes,
    "noise": lambda of: int(of.states("noise")[2].sum()),
    "channels": lambda of: float(of.states("channels")[2].max(initial=0.0)) or None,
    "table_entries": lambda of: float(of.table_samples.bytes.mean()) if len(of.table_samples.bytes) else None,
}


@pytest.mark.parametrize("metric", MUTANTS)
def test_a_metric_that_is_a_little_wrong_is_caught(metric, monkeypatch):
    wrong = METRICS[metric].__class__(**{**vars(METRICS[metric]), "compute": MUTANTS[metric]})
    monkeypatch.setitem(declarations.METRICS, metric, wrong)
    caught = sum(not agree(seed) for seed in range(20))
    assert caught > 12


@pytest.mark.parametrize("seed", range(24))
def test_a_run_tells_what_campaigns_tell(seed):
    tables = invent(seed)
    result = measure(facts_of(tables))
    twin = metric_twins.measure(tables, WARMUP, 250.0, HEADER)
    for name in result.to_dict().keys() & METRICS.keys() - {"messages", "frames", "drops"}:
        assert getattr(result, name) == (None if twin[name] is None else pytest.approx(twin[name])), name
    assert result.duplicate_deliveries == twin["duplicate_deliveries"]
    for category in ("event", "subscription", "routing", "control"):
        assert result.messages[category] == twin[f"messages_{category}"]
    assert result.messages["total"] == twin["messages"]


times = st.floats(0, 100).map(lambda t: round(t, 3))
nodes = st.integers(0, 4)


@st.composite
def histories(draw):
    """Events with their expectants, and deliveries of which most are of what was expected."""
    born = draw(
        st.dictionaries(
            st.integers(0, 6).map(lambda i: (i % 2) << 32 | i),
            st.one_of(times, st.just(50.0)),
            min_size=1,
            max_size=6,
        )
    )
    pairs = st.tuples(st.sampled_from(sorted(born)), nodes)
    expected = draw(st.lists(pairs, min_size=1, max_size=15))
    strange = st.tuples(st.integers(0, 9).map(lambda i: (i % 2) << 32 | i), nodes)
    got = draw(
        st.lists(
            st.tuples(st.one_of(st.sampled_from(expected), st.sampled_from(expected), strange), times),
            min_size=2,
            max_size=25,
        )
    )
    delivered = [(about, node, born.get(about, 0.0) + late) for (about, node), late in got]
    return born, expected, delivered


def columns(rows, *kinds):
    return tuple(
        np.array(list(column), kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    )


def pairs_of(born, expected, delivered, warmup):
    return pair_up(
        columns(born.items(), np.int64, np.float64),
        columns(expected, np.int64, np.int64),
        columns(delivered, np.int64, np.int64, np.float64),
        warmup,
    )


@given(histories(), st.sampled_from([0.0, 50.0]), st.randoms())
def test_pairs_equal_their_twin_in_any_order(history, warmup, random):
    born, expected, delivered = history
    found = pairs_of(born, expected, delivered, warmup)
    twin = metric_twins.measure_pairs(
        {
            "publications": [{"publication": p, "time": t} for p, t in born.items()],
            "expectations": [{"publication": p, "node": n} for p, n in expected],
            "deliveries": [{"publication": p, "node": n, "time": t} for p, n, t in delivered],
        },
        warmup,
    )
    values = {
        "publications": found.publications,
        "expected": found.expected,
        "delivered": len(found.delays),
        "false_deliveries": found.unexpected,
        "duplicate_deliveries": found.duplicates,
        "delay_p95": found.percentile(95),
        "delay_max": found.percentile(100),
    }
    assert values == approx({name: twin[name] for name in values})
    random.shuffle(expected)
    random.shuffle(delivered)
    again = pairs_of(born, expected, delivered, warmup)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))
