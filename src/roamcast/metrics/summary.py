"""The metrics of a run as labelled lines, for the terminal and notebooks."""

from __future__ import annotations

from roamcast.metrics.run_metrics import RunMetrics

Line = tuple[str, str]


def lines(metrics: RunMetrics) -> list[list[Line]]:
    """Return the metrics as sections of (label, formatted value)."""
    return [
        [
            ("delivered", _share(metrics.delivery_rate)),
            ("of expected deliveries", f"{metrics.delivered:,} of {metrics.expected:,}"),
            ("events published", f"{metrics.publications:,}"),
            (
                "duplicates, false deliveries",
                f"{metrics.duplicate_deliveries:,}, {metrics.false_deliveries:,}",
            ),
        ],
        [
            ("delay, mean", _time(metrics.delay_mean)),
            ("median", _time(metrics.delay_p50)),
            ("95th percentile", _time(metrics.delay_p95)),
        ],
        _requests(metrics),
        [(f"messages, {name}", f"{count:,}") for name, count in metrics.messages.items() if count],
        [(f"frames, {name}", f"{count:,}") for name, count in _frames(metrics)],
        [
            ("nodes", f"{metrics.nodes:,}"),
            ("simulated", f"{metrics.sim_seconds:,.0f} s"),
            ("processor time", _time(metrics.cpu_seconds)),
        ],
    ]


def _requests(metrics: RunMetrics) -> list[Line]:
    """Return the lines on requests and tables, if there are any."""
    found = []
    if metrics.requests:
        found = [
            ("requests", f"{metrics.requests:,}"),
            ("satisfied", _share(metrics.satisfied_rate)),
            ("of these fresh", "-" if metrics.fresh_rate is None else _share(metrics.fresh_rate)),
            ("response delay, mean", _time(metrics.response_delay)),
        ]
    if metrics.table_entries is not None and metrics.table_bytes is not None:
        held = f"{metrics.table_entries:,.1f} entries, {metrics.table_bytes:,.0f} B"
        found.append(("tables of a node, mean", held))
    return found


def _frames(metrics: RunMetrics) -> list[tuple[str, int]]:
    return [(name.replace("_", " "), count) for name, count in metrics.frames.items() if count]


def _share(value: float | None) -> str:
    return "nothing expected" if value is None else f"{100 * value:.1f} %"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"
