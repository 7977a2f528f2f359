"""The model card docs/advisor.md: its tables come from the declarations and from the evaluation.

`python -m roamcast.advisor.card docs/advisor.md` writes the tables of the page again.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from roamcast.advisor.drawing.ranges import CHOICES, RANGES
from roamcast.advisor.features import FEATURES
from roamcast.advisor.model import FILE, shipped_model

EVALUATION = FILE.with_name("evaluation.json")
"The evaluation on held-out worlds, as `roamcast advisor train` wrote it."

RUNS = FILE.with_name("runs.parquet")
"The features and metrics of all runs: the table from which the model is trained."

SHIPPED = FILE.with_name("shipped.json")
"The comparison with runs of shipped worlds, as `roamcast advisor judge --json` wrote it."

_PART = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def update(page: str) -> str:
    """Return the page with the tables between its marks generated again."""
    return _PART.sub(lambda found: f"{found[1]}{_PARTS[found[2]]()}\n{found[3]}", page)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _ranges() -> str:
    rows = [
        (name, f"{each.low:g} to {each.high:g} {each.unit}".rstrip(), each.scale, each.meaning)
        for name, each in RANGES.items()
    ]
    return _table(("number", "range", "scale", "meaning"), rows)


def _choices() -> str:
    rows = [
        (name, "; ".join(f"{word} {share:g}" for word, share in each.alternatives.items()), each.meaning)
        for name, each in CHOICES.items()
    ]
    return _table(("choice", "alternatives with their probabilities", "meaning"), rows)


def _features() -> str:
    rows = [(f"`{name}`", each.unit, each.meaning) for name, each in FEATURES.items()]
    return _table(("feature", "unit", "meaning"), rows)


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _points(share: float) -> str:
    return f"{100 * share:.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _data() -> str:
    facts = shipped_model().facts
    held_out = _read(EVALUATION)["choices"]["advisor"]["worlds"]
    return (
        f"Trained on {facts['runs']:,} runs of {facts['worlds']} random worlds, judged on {held_out} others. "
        f"Model: {facts['model']}; of the ranking: {facts['ranking']}. "
        f"Code of the runs: {', '.join(facts['versions'])}."
    )


def _choice_rows(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, row in found.items():
        yield name, _points(row["regret"]), _points(row["regret_p95"]), _percent(row["agreement"])


def _chosen() -> str:
    head = ("choice", "regret [points]", "95th percentile", "within 2 points of the best")
    return _table(head, _choice_rows(_read(EVALUATION)["choices"]))


def _metrics() -> str:
    rows = [
        (name, f"{row['error']:.3f}", f"{row['rmse']:.3f}", _percent(row["coverage"]), f"{row['width']:.3f}")
        for name, row in _read(EVALUATION)["metrics"].items()
    ]
    return _table(("metric", "mean error", "root mean square", "in the 90 % interval", "mean width"), rows)


def _regions() -> str:
    rows = [
        (
            *(name, str(row["worlds"]), _points(row["regret"]), _points(row["best_on_average"])),
            *(_percent(row["agreement"]), _percent(row["coverage"])),
        )
        for name, row in _read(EVALUATION)["regions"].items()
    ]
    head = ("region", "worlds", "regret", "best on average", "within 2 points", "in the interval")
    return _table(head, rows)


def _protocols() -> str:
    rows = [
        (name, _percent(row["mean"]), f"{100 * row['error']:.1f}", _percent(row["coverage"]))
        for name, row in _read(EVALUATION)["protocols"].items()
    ]
    return _table(("protocol", "mean delivery", "mean error [points]", "in the 90 % interval"), rows)


def _candidates() -> str:
    rows = [
        (name, _points(row["regret"]), _points(row["regret_by_delivery"]), f"{row['rmse']:.3f}")
        for name, row in _read(EVALUATION)["candidates"].items()
    ]
    head = (
        "model",
        "regret, ranked by shortfall",
        "ranked by delivery",
        "error of delivery (root mean square)",
    )
    return _table(head, rows)


def _curve() -> str:
    found = _read(EVALUATION)
    last = {str(found["training_worlds"]): found["choices"]["advisor"]}
    head = ("training worlds", "regret [points]", "95th percentile", "within 2 points of the best")
    return _table(head, _choice_rows(found["curve"] | last))


def _shipped() -> str:
    rows = [
        (
            *(name, row["best"], _percent(row["best_delivery"]), row["chosen"], _points(row["regret"])),
            *(_points(row["best_on_average_regret"]), _percent(row["coverage"]["delivery"])),
            *(_percent(row["coverage"]["airtime"]), "yes" if row["far"] else "no"),
        )
        for name, row in _read(SHIPPED).items()
    ]
    head = (
        *("world", "best protocol", "delivery", "advisor's choice", "regret", "best on average"),
        *("delivery in the interval", "airtime in the interval", "far"),
    )
    return _table(head, rows)


_PARTS: dict[str, Callable[[], str]] = {
    "ranges": _ranges,
    "choices": _choices,
    "features": _features,
    "data": _data,
    "chosen": _chosen,
    "metrics": _metrics,
    "regions": _regions,
    "protocols": _protocols,
    "candidates": _candidates,
    "curve": _curve,
    "shipped": _shipped,
}
"The generated parts of the page, by the name in their mark."


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(update(file.read_text(encoding="utf-8")), encoding="utf-8")
