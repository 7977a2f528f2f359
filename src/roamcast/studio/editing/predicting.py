"""Predictions of the advisor for the text of a scenario; called in a worker process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roamcast.scenario.read import load

SHOWN = ("delivery", "delay", "airtime", "energy")
"The predicted metrics that the page shows."


def predict(file: str, text: str) -> dict[str, Any]:
    """Return the predictions for `text` as the content of `file`, best protocol first, with their doubts.

    Raise UserError if the scenario is not valid, or if the advisor cannot predict it.
    """
    from roamcast.advisor.advice import advise
    from roamcast.advisor.features import FEATURES
    from roamcast.advisor.model import COVERAGE, shipped_model
    from roamcast.advisor.targets import TARGETS

    model = shipped_model()
    advice = advise(load(Path(file), text=text), model)
    return {
        "units": {key: TARGETS[key].unit for key in SHOWN},
        "coverage": COVERAGE,
        "worlds": len(model.worlds),
        "protocols": [
            {"name": each.protocol, **{key: each.predictions[key]._asdict() for key in SHOWN}}
            for each in advice.ranking
        ],
        "left_out": [f"{name} {reason}" for name, reason in advice.left_out.items()],
        "far": advice.far,
        "rank": advice.distance.rank,
        "outside": [
            {"name": name, "about": FEATURES[name].meaning, "value": value, "low": low, "high": high}
            for name, (value, low, high) in advice.distance.outside.items()
        ],
        "uncovered": advice.uncovered,
    }
