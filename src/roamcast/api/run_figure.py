"""The figure of one run: deliveries over time, and the distribution of delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from roamcast.report.drawings.figures import show_itself

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from roamcast.facts.tables import Facts


def draw_run(facts: Facts) -> Figure:
    """Return expected and actual deliveries over time after warm-up, and the distribution of delays."""
    from matplotlib.figure import Figure

    published = dict(
        zip(
            facts["publications"]["publication"].to_pylist(),
            facts["publications"]["time"].to_pylist(),
            strict=True,
        )
    )
    expected = {
        (publication, node)
        for publication, node in zip(
            facts["expectations"]["publication"].to_pylist(),
            facts["expectations"]["node"].to_pylist(),
            strict=True,
        )
        if node >= 0 and published[publication] >= facts.run.warmup
    }
    first: dict[tuple[int, int], float] = {}
    deliveries = facts["deliveries"]
    for publication, node, time in zip(
        deliveries["publication"].to_pylist(),
        deliveries["node"].to_pylist(),
        deliveries["time"].to_pylist(),
        strict=True,
    ):
        if (publication, node) in expected:
            first.setdefault((publication, node), time)
    delays = np.sort([time - published[publication] for (publication, _), time in first.items()])
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    over_time, of_delays = figure.subplots(1, 2)
    wanted = np.sort([published[publication] for publication, _ in expected])
    for times, label in ((wanted, "expected"), (np.sort(list(first.values())), "delivered")):
        over_time.step(times, np.arange(1, len(times) + 1), where="post", label=label)
    over_time.set(xlabel="time (s)", ylabel="deliveries", title=f"{facts.run.scenario}, {facts.run.protocol}")
    over_time.legend(frameon=False)
    of_delays.step(delays, np.arange(1, len(delays) + 1) / max(len(delays), 1), where="post")
    of_delays.set(xlabel="delay (s)", ylabel="share of deliveries", title=f"seed {facts.run.seed}")
    if len(delays) and delays[0] > 0:
        of_delays.set_xscale("log")
    return show_itself(figure)
