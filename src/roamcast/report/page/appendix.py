"""The appendix of a report: failures, statistics, scenario, parameters, commands and versions."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from typing import Any

from roamcast.report.comparing.goals import GOALS
from roamcast.report.numbers import FEW, short
from roamcast.report.result import CampaignResult


def make_appendix(result: CampaignResult) -> str:
    """Return the appendix as HTML."""
    parts = (_failures(result), _ground(result), _parameters(result), _commands(result), _made(result))
    return "\n".join(parts)


def _ground(result: CampaignResult) -> str:
    """Return the section on statistics: seeds, intervals, and how verdicts are found."""
    seeds = len(result.campaign.seed_list)
    if seeds == 1:
        text = "Every protocol ran with one seed, so nothing is known about the spread over seeds."
    elif seeds < FEW:
        text = (
            f"Every protocol ran with the same {seeds} seeds, too few for intervals: numbers are means, with "
            "the smallest and largest value of a seed in parentheses."
        )
    else:
        text = (
            f"Every protocol ran with the same {seeds} seeds: the same movement, publications and "
            "subscriptions. Numbers are means over seeds with 95 % intervals in brackets: Korn and "
            "Graubard's for a share, Student's t of the logarithm for an amount."
        )
    if result.campaign.claims:
        text += (
            " A claim is held if the interval of every number that it asks for lies within its bounds, not "
            "held if one lies wholly beyond them, otherwise undecided; more seeds may decide it. A "
            "quotient is that of the sums over seeds, with Fieller's interval; it is not judged unless its "
            "base is positive."
        )
    else:
        text += (
            f"{_rule(result)} Best: significantly better than each of the others, paired by seed "
            "(differences of shares, ratios of amounts; error 5 % over all comparisons). Tie: the difference "
            f"is not significant. No protocol is called best with fewer than {FEW} seeds, if it is the only "
            "one, or if it delivers nothing."
        )
    return f"<section><h2>Method</h2><p>{text}</p></section>"


def _rule(result: CampaignResult) -> str:
    """Return the sentence on the goal of a comparison, and on the deadline if there is one."""
    deadline = result.campaign.measure.deadline
    late = "" if deadline is None else f" A delivery later than {short(deadline)} s counts as lost."
    if result.campaign.goal != "delivery":
        return f"{late} The goal decides which protocol is best: {GOALS[result.campaign.goal].noun}."
    return (
        f"{late} Delivery decides which protocol is best; if rates are equivalent within two percentage "
        "points, messages per delivery do."
    )


def _failures(result: CampaignResult) -> str:
    failures = result.failures()
    if not failures:
        return ""
    command = {row["run"]: row["command"] for row in result.tables["plan"]}
    rows = "".join(
        f"<tr><td>{escape(error)}</td><td><code>{escape(command[run])}</code></td></tr>"
        for run, error in failures
    )
    return (
        f"<section><h2>Failures</h2><p>{len(failures)} runs failed; the numbers above are without them.</p>"
        "<div class='wide'><table><thead><tr><th>Error</th><th>Command that repeats it</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _parameters(result: CampaignResult) -> str:
    plan = {row["run"]: row for row in result.tables["plan"]}
    if not plan:
        return ""
    shown = next(iter(plan.values()))
    scenario = json.loads(shown["scenario"])
    scenario.pop("protocol", None)
    run_of = {place["protocol"]: place["run"] for place in result.tables["points"]}
    protocols = []
    for label, variant in result.campaign.protocols.items():
        if label not in run_of:
            continue
        router = variant.router or label
        every = _list(json.loads(plan[run_of[label]]["parameters"]))
        changed = f": {_list(variant.parameters)}" if variant.parameters else ", parameters of the scenario"
        of = (
            f"{escape(router)}{escape(changed)}"
            if router != label or variant.parameters
            else escape(changed[2:])
        )
        protocols.append(
            f"<dt>{escape(label)} <span class='where'>{of}</span></dt>"
            f"<dd><details><summary>All parameters</summary>{escape(every)}</details></dd>"
        )
    nodes, duration, warmup = (
        _range(float(row[key]) for row in plan.values()) for key in ("nodes", "duration", "warmup")
    )
    text = json.dumps(scenario, indent=1, ensure_ascii=False)
    fixed = {key: value for sweep in result.campaign.sweeps.values() for key, value in sweep.set.items()}
    set_ = f" Set for all runs: {escape(_list(fixed))}." if fixed else ""
    return (
        f"<section><h2>Scenario and parameters</h2><p>{escape(str(scenario.get('name', '')))}: "
        f"{nodes} nodes for {duration} s, of which metrics leave out the first {warmup} s.{set_}</p>"
        f"<dl>{''.join(protocols)}</dl>"
        "<details><summary>The whole scenario of the first point, in SI units</summary>"
        f"<pre>{escape(text)}</pre></details></section>"
    )


def _range(values: Iterable[float]) -> str:
    """Return a number, or the range over a sweep."""
    known = sorted(set(values))
    return short(known[0]) if len(known) == 1 else f"{short(known[0])} to {short(known[-1])}"


def _list(parameters: dict[str, Any], within: str = "") -> str:
    """Return parameters in the notation of files, in SI units."""
    parts = []
    for key, value in parameters.items():
        if isinstance(value, dict):
            parts.append(_list(value, f"{within}{key}."))
        else:
            parts.append(f"{within}{key} = {value if isinstance(value, str) else json.dumps(value)}")
    return ", ".join(parts) or "no parameters"


def _commands(result: CampaignResult) -> str:
    rows = "".join(
        f"<tr><td>{escape(point)}</td><td>{escape(protocol)}</td><td><code>{escape(command)}</code></td></tr>"
        for _, point, protocol, command in result.commands()
    )
    whole = result.notes.get("command")
    again = f"<p>The whole question:</p><pre>{escape(whole)}</pre>" if whole else ""
    return (
        f"<section><h2>Reproduce</h2>{again}<p>Each command below runs the first seed of one point; "
        "change <code>--seed</code> for the others. The same version gives the same facts everywhere.</p>"
        "<details><summary>Commands by point and protocol</summary><div class='wide'><table><thead><tr>"
        f"<th>Point</th><th>Protocol</th><th>Command</th></tr></thead><tbody>{rows}</tbody></table></div></details></section>"
    )


def _made(result: CampaignResult) -> str:
    versions = {name: version(name) for name in ("pyspark", "numpy", "pyarrow", "matplotlib")}
    of_code = sorted({row["version"] for row in result.tables["plan"]})
    parts = [
        f"Roamcast {', '.join(of_code)}",
        f"Python {platform.python_version()}",
        *(f"{name} {number}" for name, number in versions.items()),
        f"{platform.system()} {platform.machine()}",
    ]
    cpu = sum(row["cpu"] or 0.0 for row in result.tables["runs"])
    parts.append(f"{short(round(cpu, 1))} s of processor time in the runs")
    seconds: dict[str, Any] = result.notes.get("seconds", {})
    parts += [f"{stage}: {took:.1f} s" for stage, took in seconds.items()]
    return f"<footer><p>{escape('; '.join(parts))}.</p></footer>"
