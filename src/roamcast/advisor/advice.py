"""Advice for one scenario: a ranking of protocols with predictions, reasons and doubts."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel

from roamcast.advisor.features import FEATURES, describe
from roamcast.advisor.model import AdvisorModel, Distance, Prediction, shipped_model
from roamcast.advisor.targets import counted_seconds
from roamcast.routing.catalogue import find, working
from roamcast.scenario.model import Scenario

FAR = 0.95
"A scenario is far from the training worlds if this share of them is nearer to the others."

REASONS = 4
"Number of features that are named as reasons for a prediction."

_COVERED = {
    "radio": {"range", "carrier_sense", "propagation"},
    "mac": {"rate", "basic_rate"},
}
"Keys of the radio and of the MAC that the random worlds vary; all others have their defaults there."

_PROPAGATIONS = ("two-ray", "friis")

_DESCRIBED = (
    *("name", "area", "duration", "warmup", "quiet", "location", "sample", "groups", "hubs", "mobility"),
    *("radio", "mac", "workload", "faults", "protocols"),
)
"Sections of a scenario that features describe, or that are looked at key by key."


class Reason(NamedTuple):
    """A feature's contribution to the predicted delivery rate, along the paths of the trees."""

    feature: str
    value: float
    added: float
    "Difference to the mean over training worlds, as a share."


class ProtocolAdvice(NamedTuple):
    """The predictions for one protocol."""

    protocol: str
    predictions: dict[str, Prediction]
    "By target: delivery, delay, airtime and energy."
    reasons: list[Reason]
    "The features that add or take most of the delivery rate, largest first."


class Advice(NamedTuple):
    """The advisor's answer for a scenario."""

    scenario: str
    ranking: list[ProtocolAdvice]
    "The protocols that can serve the scenario, best first."
    left_out: dict[str, str]
    "Protocols without prediction, each with the reason."
    distance: Distance
    uncovered: list[str]
    "Settings of the scenario that differ from those of all training worlds."
    features: dict[str, float]

    @property
    def far(self) -> bool:
        """Whether the scenario is far from all training worlds."""
        return self.distance.rank >= FAR

    def to_record(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {
            "scenario": self.scenario,
            "ranking": [
                {
                    "protocol": each.protocol,
                    **{key: found._asdict() for key, found in each.predictions.items()},
                    "reasons": [reason._asdict() for reason in each.reasons],
                }
                for each in self.ranking
            ],
            "left_out": self.left_out,
            "far": self.far,
            "distance": self.distance._asdict(),
            "uncovered": self.uncovered,
            "features": self.features,
        }


def advise(scenario: Scenario, model: AdvisorModel | None = None) -> Advice:
    """Return the advice for a scenario, by the shipped model unless another is given."""
    model = model or shipped_model()
    features = describe(scenario)
    able, left_out = choose_predictable(scenario, model)
    found = model.predict(features, able, counted_seconds(scenario))
    order = sorted(able, key=lambda name: model.rank_key(features, name))
    ranking = [ProtocolAdvice(name, found[name], _reasons(model, features, name)) for name in order]
    distance = model.distance(features)
    return Advice(scenario.name, ranking, left_out, distance, find_uncovered(scenario), features)


def choose_predictable(scenario: Scenario, model: AdvisorModel) -> tuple[list[str], dict[str, str]]:
    """Return the protocols that can serve the scenario and have a model, and the reason for each other."""
    names, left_out = working()
    able = []
    for name in names:
        if find(name).needs_location and not scenario.location:
            left_out[name] = "needs positions, and the scenario does not set location = true"
        elif name not in model.protocols:
            left_out[name] = "is not in the training data"
        else:
            able.append(name)
    return able, left_out


def find_uncovered(scenario: Scenario) -> list[str]:
    """Return the settings that no training world varies and that differ from their defaults."""
    found = [
        f"{part}.{key}"
        for part, varied in _COVERED.items()
        for key in _changed(getattr(scenario, part))
        if key not in varied
    ]
    if scenario.radio.propagation not in _PROPAGATIONS:
        found.append("radio.propagation")
    found += [key for key in _changed(scenario) if key not in _DESCRIBED]
    if scenario.workload.request:
        found.append("workload.request")
    return found + [f"protocol.{name}" for name in scenario.protocols]


def _changed(section: BaseModel) -> list[str]:
    """Return the keys of a section that differ from their defaults."""
    fields = type(section).model_fields
    return [
        key
        for key, field in fields.items()
        if getattr(section, key) != field.get_default(call_default_factory=True, validated_data={})
    ]


def _reasons(model: AdvisorModel, features: dict[str, float], protocol: str) -> list[Reason]:
    row = model.rows(features, [protocol])[0]
    _, added = model.targets["delivery"].trees.contributions(row)
    reasons = [Reason(name, features[name], float(added[n + 1])) for n, name in enumerate(FEATURES)]
    return sorted(reasons, key=lambda reason: -abs(reason.added))[:REASONS]
