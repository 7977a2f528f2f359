"""The report: one HTML file that needs nothing else, for a screen, a phone and paper."""

from __future__ import annotations

from html import escape

from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.plan import point_text
from roamcast.report.appendix import make_appendix
from roamcast.report.comparison import make_comparisons
from roamcast.report.figures import Panels
from roamcast.report.readings_page import make_readings
from roamcast.report.result import Result, tell, with_interval
from roamcast.report.style import STYLE
from roamcast.report.verdicts import make_claims

_NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'"


def make_page(result: Result) -> str:
    """The whole page."""
    campaign = result.campaign
    parts = [
        _head(result),
        *_findings(result),
        make_appendix(result),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_NO_NETWORK}">'
        f"<title>{escape(campaign.title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _findings(result: Result) -> list[str]:
    """What was found: claims under all readings; or claims and figures; or protocols side by side."""
    campaign = result.campaign
    if result.notes.get("readings"):
        return [make_readings(result)]
    claims = make_claims(result.claims) if campaign.claims else ""
    figures = [_figure(result, name) for name in campaign.figures]
    return [claims, *figures, "" if figures else make_comparisons(result)]


def _head(result: Result) -> str:
    campaign, counts = result.campaign, result.counts()
    quick = (
        '<p class="note"><strong>Quick version.</strong> Few seeds and few points: it shows that everything '
        "works and which way things go, and no more.</p>"
        if result.notes.get("quick")
        else ""
    )
    told = [f"{count} runs {status}" for status, count in sorted(counts.items())]
    seeds = len(campaign.seed_list)
    told.append(f"{seeds} seeds" if seeds > 1 else "one seed: no intervals")
    paper = f'<p class="paper">{escape(campaign.paper)}</p>' if campaign.paper else ""
    about = f"<p>{escape(campaign.about)}</p>" if campaign.about else ""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in told)
    head = f"<h1>{escape(campaign.title)}</h1>{paper}{about}{quick}"
    return f'<header>{head}<ul class="facts">{facts}</ul></header>'


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
