"""Evaluation of the advisor on worlds that it has not seen: regret, agreement and coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roamcast.advisor.features import FEATURES
from roamcast.advisor.model import AdvisorModel, standardise
from roamcast.advisor.targets import TARGETS, Reals
from roamcast.pipeline.training.fitting import make_labels, make_rows

if TYPE_CHECKING:
    import pandas as pd

EQUIVALENT = 0.02
"Difference of delivery rates below which two protocols count as equal, as in comparisons."

REGIONS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "light load (flooding needs under 20 % of the channel)": lambda rows: rows["flooding_load"] < 0.2,
    "medium load (20 to 60 %)": lambda rows: rows["flooding_load"].between(0.2, 0.6),
    "heavy load (over 60 %)": lambda rows: rows["flooding_load"] > 0.6,
    "connected (a path to over 95 % of expected deliveries)": lambda rows: rows["reachable"] > 0.95,
    "partitioned (a path to under 80 %)": lambda rows: rows["reachable"] < 0.8,
    "static": lambda rows: rows["speed"] == 0,
    "fast (under 60 % of the links last 30 s)": lambda rows: rows["kept_later"] < 0.6,
    "with faults": lambda rows: rows["faults"] > 0,
    "small (under 20 nodes)": lambda rows: rows["nodes"] < 20,
    "large (over 50 nodes)": lambda rows: rows["nodes"] > 50,
}
"Parts of the space of worlds, by a condition on features."


def choose_best(scores: pd.DataFrame) -> Any:
    """Return the protocol with the highest score of each world: index world, a column per protocol."""
    return scores.idxmax(axis=1)


def regrets(actual: pd.DataFrame, chosen: Any) -> Reals:
    """Return the difference between the best delivery rate and that of the chosen protocol, by world."""
    picked = np.array([actual.at[world, name] for world, name in chosen.items()])
    return np.asarray(actual.max(axis=1).loc[chosen.index].to_numpy() - picked)


def by_world(rows: pd.DataFrame, values: Any) -> pd.DataFrame:
    """Return values of rows as a table: index world, a column per protocol."""
    return rows.assign(value=values).pivot(index="world", columns="protocol", values="value")


def best_on_average(training: pd.DataFrame, actual: pd.DataFrame) -> Any:
    """Return for each world the protocol with the highest mean in training among those that serve it."""
    means = training.groupby("protocol")["delivery_rate"].mean()
    scores = actual.notna() * means.reindex(actual.columns).to_numpy()
    return choose_best(scores.where(actual.notna()))


def best_in_nearest(training: pd.DataFrame, rows: pd.DataFrame, actual: pd.DataFrame) -> Any:
    """Return for each world the best protocol of the nearest training world, among those that serve it."""
    known = training.drop_duplicates("world").set_index("world")[list(FEATURES)]
    features = rows.drop_duplicates("world").set_index("world")[list(FEATURES)].loc[actual.index]
    theirs = standardise(known.to_numpy(float), known.to_numpy(float))
    ours = standardise(features.to_numpy(float), known.to_numpy(float))
    seen = by_world(training, training["delivery_rate"]).reindex(columns=actual.columns)
    nearest = [known.index[int(((theirs - row) ** 2).sum(axis=1).argmin())] for row in ours]
    scores = seen.loc[nearest].set_axis(actual.index).fillna(-1.0)
    return choose_best(scores.where(actual.notna()))


def summarise_regrets(regret: Reals) -> dict[str, float]:
    """Return mean and 95th percentile of regrets, and the share of choices equivalent to the best."""
    return {
        "worlds": len(regret),
        "regret": float(regret.mean()),
        "regret_p95": float(np.percentile(regret, 95)),
        "agreement": float((regret <= EQUIVALENT).mean()),
    }


def compare_choices(
    model: AdvisorModel, training: pd.DataFrame, rows: pd.DataFrame
) -> dict[str, dict[str, float]]:
    """Return how good the choices of the advisor and of both baselines are in the worlds of `rows`."""
    actual = by_world(rows, rows["delivery_rate"])
    inputs = make_rows(rows, model.protocols)
    choices = {
        "advisor": choose_best(by_world(rows, -model.ranking.predict(inputs))),
        "highest predicted delivery": choose_best(
            by_world(rows, model.targets["delivery"].trees.predict(inputs))
        ),
        "nearest world": best_in_nearest(training, rows, actual),
        "best on average": best_on_average(training, actual),
    }
    return {name: summarise_regrets(regrets(actual, chosen)) for name, chosen in choices.items()}


def measure_intervals(model: AdvisorModel, rows: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return error, coverage and width of the intervals of each metric, on the scale of the models."""
    found = {}
    for key in TARGETS:
        labels = make_labels(rows, key)
        valid = np.isfinite(labels)
        middle, low, high = model.targets[key].intervals(make_rows(rows[valid], model.protocols))
        if TARGETS[key].scale == "share":
            middle, low, high = (np.clip(each, 0.0, 1.0) for each in (middle, low, high))
        truth = labels[valid]
        found[key] = {
            "runs": int(valid.sum()),
            "error": float(np.abs(truth - middle).mean()),
            "rmse": float(np.sqrt(((truth - middle) ** 2).mean())),
            "coverage": float(((low <= truth) & (truth <= high)).mean()),
            "width": float((high - low).mean()),
        }
    return found


def evaluate_regions(
    model: AdvisorModel, training: pd.DataFrame, rows: pd.DataFrame, least: int = 10
) -> dict[str, dict[str, float]]:
    """Return the evaluation of each region with at least `least` worlds."""
    found: dict[str, dict[str, float]] = {}
    for name, condition in REGIONS.items():
        inside = rows[condition(rows)]
        if inside["world"].nunique() >= least:
            choices = compare_choices(model, training, inside)
            found[name] = choices["advisor"] | {
                "best_on_average": choices["best on average"]["regret"],
                "coverage": measure_intervals(model, inside)["delivery"]["coverage"],
            }
    return found


def evaluate_model(model: AdvisorModel, training: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the whole evaluation on held-out worlds."""
    return {
        "choices": compare_choices(model, training, rows),
        "metrics": measure_intervals(model, rows),
        "regions": evaluate_regions(model, training, rows),
        "protocols": _by_protocol(model, rows),
    }


def _by_protocol(model: AdvisorModel, rows: pd.DataFrame) -> dict[str, Mapping[str, float]]:
    found: dict[str, Mapping[str, float]] = {}
    names: Sequence[str] = sorted(rows["protocol"].unique())
    for name in names:
        own = rows[rows["protocol"] == name]
        found[name] = {"mean": float(own["delivery_rate"].mean())} | measure_intervals(model, own)["delivery"]
    return found
