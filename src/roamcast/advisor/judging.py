"""Comparison of advice with the results of a campaign, scenario by scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from roamcast.advisor.advice import Advice, advise
from roamcast.advisor.features import NotAdvisable
from roamcast.advisor.model import AdvisorModel, shipped_model
from roamcast.advisor.targets import TARGETS
from roamcast.scenario.model import Scenario

Run = Mapping[str, Any]
"A run of a campaign: `scenario` (JSON), `router`, and its metrics by name."


def judge(runs: Iterable[Run], model: AdvisorModel | None = None) -> dict[str, dict[str, Any]]:
    """Return for each scenario the advisor's choice, the best protocol, regret and coverage.

    Scenarios for which there is no advice are left out.
    """
    model = model or shipped_model()
    by_scenario: dict[str, list[Run]] = {}
    for run in runs:
        by_scenario.setdefault(_without_parameters(run["scenario"]), []).append(run)
    found: dict[str, dict[str, Any]] = {}
    for number, (text, own) in enumerate(by_scenario.items(), 1):
        scenario = Scenario.model_validate_json(text)
        try:
            advice = advise(scenario, model)
        except NotAdvisable:
            continue
        name = scenario.name if scenario.name not in found else f"{scenario.name} ({number})"
        found[name] = judge_scenario(advice, own, model)
    return found


def _without_parameters(scenario: str) -> str:
    """Return a scenario (JSON) without protocol parameters, which differ from protocol to protocol."""
    return json.dumps(json.loads(scenario) | {"protocol": {}}, sort_keys=False)


def judge_scenario(advice: Advice, runs: list[Run], model: AdvisorModel) -> dict[str, Any]:
    """Return how the advice for a scenario compares with its runs."""
    delivery = TARGETS["delivery"].metric
    able = {each.protocol for each in advice.ranking}
    known = [run for run in runs if run["router"] in able and run[delivery] is not None]
    means: dict[str, float] = {}
    for name in sorted({run["router"] for run in known}):
        values = [run[delivery] for run in known if run["router"] == name]
        means[name] = sum(values) / len(values)
    best = max(means, key=lambda name: means[name])
    chosen = next(each.protocol for each in advice.ranking if each.protocol in means)
    usual = max(means, key=lambda name: model.means[name])
    predictions = {each.protocol: each.predictions for each in advice.ranking}
    coverage = {}
    for key, target in TARGETS.items():
        inside = [
            predictions[run["router"]][key].low <= run[target.metric] <= predictions[run["router"]][key].high
            for run in known
            if run[target.metric] is not None
        ]
        coverage[key] = sum(inside) / len(inside) if inside else None
    return {
        "seeds": len(known) // max(len(means), 1),
        "best": best,
        "best_delivery": means[best],
        "chosen": chosen,
        "regret": means[best] - means[chosen],
        "best_on_average": usual,
        "best_on_average_regret": means[best] - means[usual],
        "predicted": predictions[chosen]["delivery"].value,
        "coverage": coverage,
        "far": advice.far,
        "distance_rank": advice.distance.rank,
        "outside": sorted(advice.distance.outside),
    }
