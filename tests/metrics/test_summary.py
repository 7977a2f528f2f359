"""A run's metrics as people read them."""

import msgspec

from roamcast.metrics.run_metrics import RunMetrics
from roamcast.metrics.summary import lines

PLAIN = RunMetrics(
    scenario="tiny",
    protocol="cbr",
    seed=1,
    nodes=1200,
    sim_seconds=3600.0,
    delivery_rate=0.5,
    delay_mean=0.25,
    delay_p50=1.0,
    delay_p95=None,
    publications=1000,
    expected=2000,
    delivered=1000,
    false_deliveries=3,
    duplicate_deliveries=4,
    messages={"event": 7, "control": 0, "total": 7},
    requests=0,
    satisfied_rate=None,
    response_delay=None,
    fresh_rate=None,
    table_entries=None,
    table_bytes=None,
    frames={"data": 12, "retry_limit": 1, "ack": 0},
    drops={},
    cpu_seconds=12.345,
    events_processed=9,
)


def test_what_was_delivered_how_late_and_at_what_cost():
    assert dict(line for section in lines(PLAIN) for line in section) == {
        "delivered": "50.0 %",
        "of expected deliveries": "1,000 of 2,000",
        "events published": "1,000",
        "duplicates, false deliveries": "4, 3",
        "delay, mean": "250.0 ms",
        "median": "1.00 s",
        "95th percentile": "-",
        "messages, event": "7",
        "messages, total": "7",
        "frames, data": "12",
        "frames, retry limit": "1",
        "nodes": "1,200",
        "simulated": "3,600 s",
        "processor time": "12.35 s",
    }


def test_requests_and_tables_are_told_where_there_are_any():
    asked = msgspec.structs.replace(
        PLAIN, delivery_rate=None, requests=5, satisfied_rate=0.4, table_entries=1234.56, table_bytes=7.0
    )
    shown = lines(asked)
    assert shown[0][0] == ("delivered", "nothing expected")
    assert shown[2] == [
        ("requests", "5"),
        ("satisfied", "40.0 %"),
        ("of these fresh", "-"),
        ("response delay, mean", "-"),
        ("tables of a node, mean", "1,234.6 entries, 7 B"),
    ]


def test_tables_are_told_where_both_their_numbers_are_known():
    for entries, size, shown in ((2.0, 7.0, True), (2.0, None, False), (None, 7.0, False)):
        metrics = msgspec.structs.replace(PLAIN, table_entries=entries, table_bytes=size)
        assert any("tables" in name for section in lines(metrics) for name, _ in section) is shown
