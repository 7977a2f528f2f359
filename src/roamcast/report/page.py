"""The report: one HTML file that needs nothing else, for a screen, a phone and paper."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from typing import Any

from roamcast.pipeline.metrics import METRICS
from roamcast.pipeline.plan import point_text
from roamcast.report.bars import draw_bars
from roamcast.report.figures import Panels
from roamcast.report.ranking import HEADLINES, SIDE_BY_SIDE, rank, sentences
from roamcast.report.result import Judged, Result, short, tell, with_interval
from roamcast.report.style import STYLE

_NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'"


def make_page(result: Result) -> str:
    """The whole page."""
    campaign = result.campaign
    parts = [
        _head(result),
        _claims(result.claims) if campaign.claims else "",
        *(_figure(result, name) for name in campaign.figures),
        _answers(result) if not campaign.figures else "",
        _failures(result),
        _parameters(result),
        _commands(result),
        _made(result),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_NO_NETWORK}">'
        f"<title>{escape(campaign.title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _head(result: Result) -> str:
    campaign, counts = result.campaign, result.counts()
    quick = (
        '<p class="note"><strong>Quick version.</strong> Few seeds and few points: it shows that everything '
        "works and which way things go, and no more.</p>"
        if result.notes.get("quick")
        else ""
    )
    told = [f"{count} runs {status}" for status, count in sorted(counts.items())]
    told.append(f"{len(campaign.seed_list)} seeds")
    if campaign.claims:
        for verdict in ("held", "not held", "not judged"):
            count = sum(judged.verdict == verdict for judged in result.claims)
            told += [f"{count} claims {verdict}"] if count else []
    paper = f'<p class="paper">{escape(campaign.paper)}</p>' if campaign.paper else ""
    about = f"<p>{escape(campaign.about)}</p>" if campaign.about else ""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in told)
    head = f"<h1>{escape(campaign.title)}</h1>{paper}{about}{quick}"
    return f'<header>{head}<ul class="facts">{facts}</ul></header>'


def _claims(claims: list[Judged]) -> str:
    rows = []
    for judged in claims:
        claim = judged.claim
        where = ", ".join(
            part for part in (f"section {claim.section}" if claim.section else "", claim.figure) if part
        )
        broken = "".join(f"<li>{escape(line)}</li>" for line in judged.broken)
        detail = f"<details><summary>where not</summary><ul>{broken}</ul></details>" if broken else ""
        sure = {True: "", False: " (within the interval)", None: " (no interval)"}[judged.sure]
        if judged.verdict == "not judged":
            sure = ""
        mark = judged.verdict.replace(" ", "-")
        rows.append(
            f'<tr class="{mark}"><td data-label="Claim">{escape(claim.says)}'
            f'<span class="where">{escape(where)}</span>{detail}</td>'
            f'<td data-label="Paper">{escape(claim.paper or "-")}</td>'
            f'<td data-label="Asked">{escape(judged.asked)}</td>'
            f'<td data-label="Ours">{escape(judged.ours)}</td>'
            f'<td data-label="Verdict"><strong>{judged.verdict}</strong>{sure}</td></tr>'
        )
    return (
        "<section><h2>Claims</h2><table class='claims'><thead><tr><th>Claim</th><th>The paper</th>"
        f"<th>Asked</th><th>Ours</th><th>Verdict</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "<p class='small'>A claim holds if every number it asks for lies in its bounds. Numbers are means "
        "over seeds with 95 % Student-t intervals; protocols are compared on the same seeds. Within the "
        "interval: the interval reaches across the bound, so more seeds might decide otherwise.</p></section>"
    )


def _figure(result: Result, name: str) -> str:
    panels = Panels(result, name)
    figure = panels.figure
    drawn = "".join(f'<div class="panel">{panels.svg(row, stack)}</div>' for row, stack in panels.panels)
    metrics = [metric for stack in figure.y for metric in stack]
    head = "".join(f"<th>{escape(METRICS[metric].title)}</th>" for metric in metrics)
    rows = []
    for point in panels.points:
        for label in panels.sweep.protocols:
            cells = [
                result.values.get((figure.sweep, point_text(point), label, metric)) for metric in metrics
            ]
            told = "".join(
                f"<td>{escape(with_interval(cell['mean'], cell['half']) if cell else '-')}</td>"
                for cell in cells
            )
            rows.append(f"<tr><td>{escape(tell(point_text(point)))}</td><td>{escape(label)}</td>{told}</tr>")
    section = f' <span class="where">section {escape(figure.section)}</span>' if figure.section else ""
    return (
        f'<section><h2>{escape(figure.title)}{section}</h2><div class="panels">{drawn}</div>'
        '<details><summary>Numbers</summary><div class="wide"><table><thead><tr><th>Point</th>'
        f"<th>Protocol</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details></section>"
    )


def _answers(result: Result) -> str:
    """Protocols side by side, where the campaign draws no figure: the answer, its picture, the numbers."""
    parts = []
    for name, sweep in result.campaign.sweeps.items():
        for point in sweep.expand():
            place = (name, point_text(point))
            told = "".join(f"<li>{escape(line)}</li>" for line in sentences(result, place, sweep.protocols))
            bars = "".join(
                f'<div class="panel">{draw_bars(result, place, metric, sweep.protocols)}</div>'
                for metric in HEADLINES
                if rank(result, place, metric, sweep.protocols)
            )
            parts.append(
                f"<section><h2>Which is best? <span class='where'>{escape(tell(place[1]))}</span></h2>"
                f"<ul class='answer'>{told}</ul>"
                f'<div class="panels">{bars}</div>{_side_by_side(result, place, sweep.protocols)}</section>'
            )
    return "".join(parts)


def _side_by_side(result: Result, place: tuple[str, str], protocols: list[str]) -> str:
    head = "".join(f"<th>{escape(label)}</th>" for label in protocols)

    def table(metrics: Iterable[str]) -> str:
        rows = []
        for metric in (METRICS[name] for name in metrics):
            ranked = rank(result, place, metric.name, protocols) if metric.name in SIDE_BY_SIDE else {}
            cells = []
            for label in protocols:
                row = result.values.get((*place, label, metric.name))
                mark = ranked.get(label, ("", ""))[1]
                tag = f" <strong class='{mark}'>{mark}</strong>" if mark else ""
                cells.append(
                    f"<td>{escape(with_interval(row['mean'], row['half']) if row else '-')}{tag}</td>"
                )
            unit = f" ({metric.unit})" if metric.unit else ""
            rows.append(
                f"<tr><td title='{escape(metric.meaning)}'>{escape(metric.title + unit)}</td>"
                f"{''.join(cells)}</tr>"
            )
        return (
            f"<div class='wide'><table><thead><tr><th>Metric</th>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )

    return (
        f"{table(SIDE_BY_SIDE)}<p class='small'>Means over seeds with 95 % Student-t intervals. A tie: the "
        "difference to the best, seed by seed, is within its interval.</p>"
        f"<details><summary>All metrics</summary>{table(METRICS)}</details>"
    )


def _failures(result: Result) -> str:
    failures = result.failures()
    if not failures:
        return ""
    rows = "".join(f"<tr><td><code>{run}</code></td><td>{escape(error)}</td></tr>" for run, error in failures)
    return (
        f"<section><h2>Failures</h2><p>{len(failures)} runs failed; the numbers above are without them.</p>"
        f"<table><thead><tr><th>Run</th><th>Error</th></tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _parameters(result: Result) -> str:
    plan = result.tables["plan"]
    if not plan:
        return ""
    scenario = json.loads(plan[0]["scenario"])
    scenario.pop("protocol", None)
    protocols = []
    for label, variant in result.campaign.protocols.items():
        router = variant.router or label
        known = next((row for row in plan if row["router"] == router), None)
        parameters = (json.loads(known["parameters"]) if known else {}) | variant.parameters
        told = ", ".join(f"{key} = {value}" for key, value in parameters.items()) or "no parameters"
        protocols.append(
            f"<dt>{escape(label)} <span class='where'>{escape(router)}</span></dt><dd>{escape(told)}</dd>"
        )
    text = json.dumps(scenario, indent=1, ensure_ascii=False)
    return (
        f"<section><h2>Scenario and parameters</h2><p>{escape(str(scenario.get('name', '')))}: "
        f"{plan[0]['nodes']} nodes for {short(plan[0]['duration'])} s, of which metrics leave out the first "
        f"{short(plan[0]['warmup'])} s.</p>"
        f"<dl>{''.join(protocols)}</dl><details><summary>The whole scenario, in SI units</summary>"
        f"<pre>{escape(text)}</pre></details></section>"
    )


def _commands(result: Result) -> str:
    rows = "".join(
        f"<tr><td>{escape(point)}</td><td>{escape(protocol)}</td><td><code>{escape(command)}</code></td></tr>"
        for _, point, protocol, command in result.commands()
    )
    return (
        "<section><h2>Reproduce a point</h2><p>Each command runs the first seed of one point; change "
        "<code>--seed</code> for the others. The same version gives the same facts on every machine.</p>"
        "<details><summary>Commands</summary><div class='wide'><table><thead><tr><th>Point</th>"
        f"<th>Protocol</th><th>Command</th></tr></thead><tbody>{rows}</tbody></table></div></details></section>"
    )


def _made(result: Result) -> str:
    versions = {name: version(name) for name in ("pyspark", "numpy", "pyarrow", "matplotlib")}
    of_code = sorted({row["version"] for row in result.tables["plan"]})
    told = [
        f"Roamcast {', '.join(of_code)}",
        f"Python {platform.python_version()}",
        *(f"{name} {number}" for name, number in versions.items()),
        f"{platform.system()} {platform.machine()}",
    ]
    cpu = sum(row["cpu"] or 0.0 for row in result.tables["runs"])
    told.append(f"{short(round(cpu, 1))} s of processor time in the runs")
    seconds: dict[str, Any] = result.notes.get("seconds", {})
    told += [f"{stage}: {took:.1f} s" for stage, took in seconds.items()]
    return f"<footer><p>{escape('; '.join(told))}.</p></footer>"
