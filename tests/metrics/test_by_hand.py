"""Every metric of a small invented run, computed by hand; what happens as the warm-up ends counts."""

import numpy as np
import pyarrow as pa
import pytest

from roamcast.facts.schema import TABLES
from roamcast.metrics.communities import orphans
from roamcast.metrics.constants import EnergyModel, MetricConstants
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.metric_input import MetricInput, RunSettings
from roamcast.metrics.ratio import divide, mean

SETTING = RunSettings(nodes=4, warmup=10.0, range=100.0, header=20, beacons=frozenset({"Beacon"}))

RUN = {
    "publications": {"publication": [7, 3, 5, 9, 4], "time": [10.0, 9.9, 12.0, 30.0, 20.0]},
    "expectations": {"publication": [7, 7, 7, 3, 5, 9, 9, 7], "node": [1, 2, 3, 1, 2, 1, 2, 1]},
    "deliveries": {
        "publication": [7, 7, 7, 5, 3, 9, 4, 9, 8],
        "node": [1, 2, 2, 2, 1, 3, 1, 1, 1],
        "time": [11.0, 14.0, 12.0, 12.5, 10.0, 31.0, 21.0, 40.0, 41.0],
    },
    "transmissions": {
        "time": [9.0, 10.0, 11.0, 12.0, 13.0, 14.0],
        "to": [-1, -1, 2, 3, -1, 1],
        "category": ["event", "event", "event", "routing", "control", "subscription"],
        "kind": ["Flood", "Flood", "Copy", "DsdvUpdate", "Beacon", "Subscription"],
        "size": [100, 200, 300, 50, 10, 40],
        "attempts": [1, 1, 3, 2, 1, 0],
        "failed": [True, False, True, False, False, True],
        "airtime": [1.0, 0.1, 0.2, 0.3, 0.4, 0.05],
    },
    "drops": {
        "time": [9.9, 10.0, 11.0, 12.0],
        "cause": ["collision", "collision", "duplicate", "queue_full"],
    },
    "requests": {
        "time": [9.0, 10.0, 20.0, 30.0, 40.0, 50.0],
        "outcome": ["satisfied", "satisfied", "satisfied", "open", "satisfied", "expired"],
        "answered": [9.5, 12.0, 21.0, np.nan, 46.0, np.nan],
        "fresh": [True, True, False, False, True, False],
    },
    "tables": {
        "time": [9.0, 10.0, 10.0, 10.0, 20.0],
        "node": [1, 1, 1, 2, 1],
        "entries": [900, 5, 7, 4, 20],
        "bytes": [9000, 50, 70, 41, 201],
    },
    "legs": {
        "node": [0, 1, 2, 3],
        "start": [0.0] * 4,
        "end": [30.0] * 4,
        "x0": [0.0, 50.0, 500.0, 1000.0],
        "y0": [0.0] * 4,
        "x1": [0.0, 50.0, 500.0, 1000.0],
        "y1": [0.0] * 4,
    },
    "states": {
        "time": [1.0, 2.0, 3.0, 10.0, 12.0, 15.0, 20.0, 4.0, 11.0, 13.0, 5.0, 16.0, 17.0, 18.0],
        "node": [1, 1, 2, 1, 1, 1, 2, 3, 3, 3, 0, 0, 0, 0],
        "name": [
            *("channels", "channels", "channels", "channels", "noise", "noise", "noise"),
            *("forwarding_groups", "forwarding_groups", "forwarding_groups"),
            *("false_joins", "false_joins", "false_joins", "false_joins"),
        ],
        "value": [9.0, 4.0, 0.0, 2.0, 3.0, 1.0, 5.0, 8.0, 3.0, 6.0, 2.0, 7.0, 1.0, 4.0],
    },
}

BY_HAND = {
    "publications": 4,
    "expected": 6,
    "delivered": 4,
    "delivery_rate": 4 / 6,
    "delivery_rate_mean": (2 / 3 + 1 + 1 / 2) / 3,
    "false_deliveries": 2,
    "duplicate_deliveries": 1,
    "delay_mean": (0.5 + 1.0 + 2.0 + 10.0) / 4,
    "delay_p50": 1.5,
    "delay_p90": 2.0 + 0.7 * 8.0,
    "delay_p95": 2.0 + 0.85 * 8.0,
    "delay_p99": 2.0 + 0.97 * 8.0,
    "delay_max": 10.0,
    "requests": 5,
    "satisfied_rate": 3 / 5,
    "response_delay": (2.0 + 1.0 + 6.0) / 3,
    "response_delay_p50": 2.0,
    "response_delay_p95": 2.0 + 0.9 * 4.0,
    "fresh_rate": 2 / 3,
    "hit_rate": 1 / 3,
    "overhead": 5 - 1,
    "overhead_weighted": 4 + 9 * 2,
    "overhead_per_request": 4 / 5,
    "overhead_per_answer": 4 / 3,
    "overhead_weighted_per_answer": (4 + 9 * 2) / 3,
    "messages": 5,
    "messages_event": 2,
    "messages_subscription": 1,
    "messages_routing": 1,
    "messages_control": 1,
    "messages_failed": 2,
    "frames": 1 + 3 + 2 + 1,
    "frames_link": 1 + 3 * 3 + 3 * 2 + 1 + 1,
    "bytes": 200 + 900 + 100 + 10,
    "airtime": 0.1 + 0.2 + 0.3 + 0.4 + 0.05,
    "airtime_per_delivery": 1.05 / 4,
    "reachable": 2,  # nodes 0, which publishes all, and 1 are within range: events 7 and 9 at node 1
    "delivery_rate_reachable": 4 / 2,
    "messages_weighted": 5 + 9 * 2,
    "messages_per_event": 5 / 4,
    "messages_per_delivery": 5 / 4,
    "neighbours": 2 / 4,
    "drops": 3,
    "drops_link": 2,
    "table_entries": (12 + 4 + 20) / 3,
    "table_entries_max": 20,
    "table_bytes": (120 + 41 + 201) / 3,
    "table_bytes_max": 201,
    "throughput": 4 / 30.0,
    "bytes_event": 1100,
    "bytes_control": 110,
    "channels": 2.0,
    "forwarding_groups": 8.0 / 4,
    "noise": 3 + 1 + 5,
    "false_joins": 5 + 1 + 3,
}


class Invented:
    """Facts from lists; what is not named is empty, and transmissions come in pieces."""

    def __init__(self, rows):
        self.rows = rows

    def read(self, table, *columns):
        schema = pa.schema([TABLES[table].field(name).with_metadata(None) for name in columns])
        rows = self.rows.get(table, {name: [] for name in columns})
        arrays = [
            pa.array(rows[field.name], pa.string()).dictionary_encode().cast(field.type)
            if pa.types.is_dictionary(field.type)
            else pa.array(rows[field.name], field.type, from_pandas=False)
            for field in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def pieces(self, table, *columns):
        yield from self.read(table, *columns).to_batches(max_chunksize=4)


def look(rows, **changes):
    return MetricInput(Invented(rows), SETTING._replace(**changes))


@pytest.mark.parametrize("name", BY_HAND)
def test_a_metric_by_hand(name):
    assert METRICS[name].compute(look(RUN)) == pytest.approx(BY_HAND[name], abs=1e-9)


def test_those_by_hand_are_all_but_what_is_tested_below():
    assert METRICS.keys() - BY_HAND.keys() == {
        "energy",
        "energy_per_delivery",
        "communities",
        "orphans",
    }


def test_of_nothing_there_is_no_mean_and_no_share():
    counted = {"channels"} | {name for name in METRICS if "rate" in name or "delay" in name or "per_" in name}
    for name, value in evaluate(look({})).items():
        none = counted | {"neighbours", "energy", "throughput", "communities", "orphans", "reachable"}
        assert value is None if name in none or name.startswith("table_") else value == 0, name
    assert (mean(np.zeros(0)), mean(np.array([1.0, 4.0]))) == (None, 2.5)
    assert (divide(3, 0), divide(0, 2), divide(3, 2)) == (None, 0.0, 1.5)


def test_the_energy_of_frames_by_hand():
    cost = EnergyModel(
        **{
            **{"unicast_send_per_byte": 1e2, "unicast_send_per_frame": 1e4},
            **{"unicast_receive_per_byte": 3e2, "unicast_receive_per_frame": 3e4},
            **{"broadcast_send_per_byte": 5e2, "broadcast_send_per_frame": 5e4},
            **{"broadcast_receive_per_byte": 7e2, "broadcast_receive_per_frame": 7e4},
            **{"overhear_per_byte": 11e2, "overhear_per_frame": 11e4},
        }
    )
    broadcast, unicast = 200 + 20 + 10 + 20, 3 * 320 + 2 * 70
    near = RUN["legs"] | {"x0": [0.0, 50.0, 60.0, 70.0], "x1": [0.0, 50.0, 60.0, 70.0]}
    for legs, neighbours in ((RUN["legs"], 0.5), (near, 3.0)):
        of = MetricInput(Invented(RUN | {"legs": legs}), SETTING, MetricConstants(energy=cost))
        spent = broadcast * (5e2 + neighbours * 7e2) + 2 * (5e4 + neighbours * 7e4)
        spent += unicast * 4e2 + 5 * 4e4
        spent += max(neighbours - 1, 0) * (unicast * 11e2 + 5 * 11e4)
        assert METRICS["energy"].compute(of) == pytest.approx(spent / 1e6)
    assert METRICS["energy"].compute(look(RUN, header=None)) is None
    assert METRICS["energy"].compute(look(RUN, range=None)) is None


@pytest.mark.parametrize(("size", "discarded"), [(0, 87.4), (178, 0.18), (179, 0.0), (1000, 0.0)])
def test_a_discarded_frame_never_costs_less_than_nothing(size, discarded):
    sent = RUN["transmissions"] | {"size": [size] * 6, "attempts": [0, 0, 1, 0, 0, 0]}
    near = RUN["legs"] | {"x0": [0.0, 50.0, 60.0, 70.0], "x1": [0.0, 50.0, 60.0, 70.0]}
    of = look(RUN | {"transmissions": sent, "legs": near})
    addressed = (1.9 + 0.42) * (size + 20) + 420 + 330
    assert METRICS["energy"].compute(of) == pytest.approx((addressed + 2 * discarded) / 1e6)


def belonging(*rows):
    columns = zip(*rows, strict=True)
    names = ("time", "node", "value")
    return {"states": dict(zip(names, map(list, columns), strict=True)) | {"name": ["community"] * len(rows)}}


def test_communities_count_for_as_long_as_they_last_from_the_end_of_the_warm_up_on():
    before = ((1.0, 0, 5.0), (2.0, 1, 5.0), (3.0, 2, 5.0), (4.0, 3, 8.0))
    rows = belonging(*before, (11.0, 3, 5.0), (16.0, 0, 9.0))
    of = look(rows)
    # 5: three and 8: one, for a second; then 5: four, for five seconds; how long the last lasts is not known.
    assert METRICS["communities"].compute(of) == pytest.approx((1 * 2 + 5 * 1) / 6)
    assert orphans(of) == pytest.approx(1 / 6)
    late = look(rows, warmup=50.0)
    assert (METRICS["communities"].compute(late), orphans(late)) == (2.0, 1.0)
    alone = look(belonging((10.0, 0, 1.0), (11.0, 1, 1.0)))
    assert (METRICS["communities"].compute(alone), orphans(alone)) == (1.0, 1.0)


def test_gamma_weighs_event_messages():
    of = MetricInput(Invented(RUN), SETTING, MetricConstants(gamma=3.0))
    assert METRICS["messages_weighted"].compute(of) == 5 + 2 * 2
    assert METRICS["overhead_weighted"].compute(of) == 4 + 2 * 2
