"""The command `roamcast advise`: predict what each protocol achieves in a scenario."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.shared.limits import MOST_SEEDS

if TYPE_CHECKING:
    from roamcast.advisor.advice import Advice
    from roamcast.advisor.model import Prediction

VERIFIED = 3
"Number of protocols that `--verify` runs."


def command(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Scenario file, or name of a shipped scenario.")
    ],
    *,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario. May be repeated."),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Run the first three protocols, and show their results beside the predictions."
        ),
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds of --verify.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print the advice as one JSON object.")] = False,
) -> None:
    """Predict delivery, delay and airtime of each protocol in a scenario, without running it."""
    from roamcast.advisor.advice import advise
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate

    file = locate(scenario)
    advice = advise(load(file, set_ or ()))
    results = _verify(scenario, advice, set_ or [], seeds) if verify else {}
    if json:
        record = advice.to_record()
        for each in record["ranking"]:
            if each["protocol"] in results:
                each["result"] = results[each["protocol"]]
        print(json_.dumps(record))
        return
    _print(advice, results, seeds)


def _verify(scenario: str, advice: Advice, settings: list[str], seeds: int) -> dict[str, dict[str, float]]:
    """Run the first protocols of the ranking; return the means of the predicted metrics by protocol."""
    from roamcast.advisor.targets import TARGETS
    from roamcast.api.campaigns import compare

    chosen = [each.protocol for each in advice.ranking[:VERIFIED]]
    summary = compare(scenario, chosen, seeds=seeds, settings=settings).to_pandas("summary")
    means = summary.set_index(["protocol", "metric"])["mean"]
    return {
        name: {key: float(means[name, target.metric]) for key, target in TARGETS.items()} for name in chosen
    }


_SHOWN = {"delivery": (100.0, "%"), "delay": (1.0, "s"), "airtime": (1.0, "s")}
"The columns of the table, with factor and unit."


def _print(advice: Advice, results: dict[str, dict[str, float]], seeds: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("protocol", *(f"{key}, 90 % of runs" for key in _SHOWN)):
        table.add_column(title)
    for each in advice.ranking:
        cells = [_cell(each.predictions[key], *_SHOWN[key]) for key in _SHOWN]
        table.add_row(each.protocol, *cells)
        if each.protocol in results:
            found = results[each.protocol]
            cells = [f"{_number(found[key] * factor)} {unit}" for key, (factor, unit) in _SHOWN.items()]
            table.add_row(f"  result, {seeds} seeds", *cells)
    console = Console(width=None if Console().is_terminal else 200)
    console.print(table, highlight=False)
    for line in _remarks(advice):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _remarks(advice: Advice) -> list[str]:
    """Return the lines below the table: reasons, protocols left out, and doubts."""
    lines = [""]
    for each in advice.ranking[:VERIFIED]:
        listed = ", ".join(
            f"{reason.feature} = {_number(reason.value)} ({100 * reason.added:+.1f})"
            for reason in each.reasons
        )
        lines.append(f"{each.protocol}, points of delivery by feature: {listed}")
    lines += [f"left out: {name} {reason}" for name, reason in advice.left_out.items()]
    distance = advice.distance
    if distance.outside:
        listed = ", ".join(
            f"{name} = {_number(value)} (trained with {_number(low)} to {_number(high)})"
            for name, (value, low, high) in distance.outside.items()
        )
        lines.append(f"warning: outside the training worlds: {listed}")
    if advice.far:
        lines.append(
            f"warning: this scenario is farther from the training worlds than {100 * distance.rank:.0f} % of "
            "them are from each other; run it: roamcast compare"
        )
    if advice.uncovered:
        lines.append(f"warning: the advisor does not know the effect of {', '.join(advice.uncovered)}")
    return lines


def _cell(found: Prediction, factor: float, unit: str) -> str:
    value, low, high = (_number(each * factor) for each in found)
    return f"{value} {unit}, {low} to {high}"


def _number(value: Any) -> str:
    """Return a number with three digits."""
    return f"{float(value):.3g}" if abs(float(value)) < 1000 else f"{float(value):.0f}"
