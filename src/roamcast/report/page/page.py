"""The report as one self-contained HTML file, for screens, phones and paper."""

from __future__ import annotations

from html import escape

from roamcast.campaign.plan import point_text
from roamcast.metrics.declarations import METRICS
from roamcast.report.drawings.catalogue import ReportFigure
from roamcast.report.drawings.communities import community_snapshots, draw_communities
from roamcast.report.drawings.figures import PANEL, FigurePanels
from roamcast.report.drawings.map import MapData, describe_map, draw_map
from roamcast.report.numbers import FEW, format_estimate
from roamcast.report.page.appendix import make_appendix
from roamcast.report.page.comparison import make_answer, make_comparisons, make_points
from roamcast.report.page.downloads import make_downloads, show_figure
from roamcast.report.page.readings_page import make_readings
from roamcast.report.page.replays import make_next_steps, make_seeds
from roamcast.report.page.style import STYLE
from roamcast.report.page.verdicts import claims_of, make_claims, sum_up
from roamcast.report.result import CampaignResult, describe_point, warn

_NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'"


REFRESH = 5
"Interval after which a followed page is reloaded [s]."


def make_page(result: CampaignResult, ground: MapData | None = None, *, follow: bool = False) -> str:
    """Return the page; `ground` is the scenario of its map; with `follow`, the page reloads itself."""
    campaign = result.campaign
    again = f'<meta http-equiv="refresh" content="{REFRESH}">' if follow else ""
    parts = [
        _head(result),
        _opening(result, ground),
        *_findings(result),
        make_seeds(result),
        "" if follow else make_downloads(result),
        make_appendix(result),
    ]
    return make_document(campaign.title, parts, again)


def make_document(title: str, parts: list[str], more: str = "") -> str:
    """Return an HTML document with these parts in the style of the reports; `more` stands in its head."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'{more}<meta http-equiv="Content-Security-Policy" content="{_NO_NETWORK}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _findings(result: CampaignResult) -> list[str]:
    """Return the findings: claims under readings, figures with their claims, or protocols side by side."""
    if result.notes.get("readings"):
        return [make_readings(result)] if not result.stale else []
    figures = [_figure(result, name) for name in result.campaign.figures if result.values]
    claims = make_claims(result, claims_of(result, None))
    if not result.values:
        return [claims]
    return [*figures, claims, make_points(result) if figures else make_comparisons(result)]


def _head(result: CampaignResult) -> str:
    campaign, counts = result.campaign, result.counts()
    quick = (
        '<p class="note"><strong>Quick version.</strong> Few seeds and few points: it shows that everything '
        "works and which way things go, and no more.</p>"
        if result.notes.get("quick")
        else ""
    )
    stale = (
        f'<p class="note"><strong>Not the result.</strong> {escape(warn(result))}</p>' if result.stale else ""
    )
    marker = (
        f'<p class="note"><strong>{result.marker}.</strong> Numbers, figures and verdicts are of these '
        "alone, and may change until all are done.</p>"
        if result.marker
        else ""
    )
    parts = [f"{count} runs {status}" for status, count in sorted(counts.items())]
    seeds = len(campaign.seed_list)
    parts.append("one seed" if seeds == 1 else f"{seeds} seeds")
    if seeds < FEW:
        parts.append("too few for intervals: dots are seeds")
    paper = f'<p class="paper">{escape(campaign.paper)}</p>' if campaign.paper else ""
    about = f"<p>{escape(campaign.about)}</p>" if campaign.about else ""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in parts)
    head = f"<h1>{escape(campaign.title)}</h1>{paper}{about}{marker}{quick}{stale}"
    return f'<header>{head}<ul class="facts">{facts}</ul></header>'


def _opening(result: CampaignResult, ground: MapData | None) -> str:
    """Return the map, and beside it the answer or the number of verdicts."""
    world = ""
    if ground is not None:
        words = escape(describe_map(ground))
        world = f'<figure class="map">{draw_map(ground)}<figcaption>{words}</figcaption></figure>'
    if result.notes.get("readings"):
        text = ""
    elif result.campaign.claims:
        text = f'<p class="verdict">{escape(sum_up(result.claims))}</p>' if result.claims else ""
    else:
        text = make_answer(result)
        text += make_next_steps(result) if text else ""
    return f'<section class="opening">{world}<div>{text}</div></section>' if world or text else ""


def _communities(result: CampaignResult, figure: str) -> str:
    """Return the maps of communities for a figure about orphans."""
    shown = community_snapshots(result, figure)
    if not shown:
        return ""
    words = "; ".join(each.describe() for each in shown)
    text = (
        f"{words}; {shown[0].moment:g} s into the first run. Stars are principals, red communities orphans."
    )
    return f'<figure class="map">{draw_communities(shown)}<figcaption>{escape(text)}</figcaption></figure>'


def _figure(result: CampaignResult, name: str) -> str:
    panels = FigurePanels(result, name)
    figure = panels.figure
    drawn = "".join(
        show_figure(ReportFigure(panel.name, "", panel.draw)) for panel in panels.single_panels(PANEL)
    )
    metrics = [metric for stack in figure.y for metric in stack]
    head = "".join(
        f"<th>{escape(metric.title)}<span class='where'>{escape(metric.meaning)}</span></th>"
        for metric in map(METRICS.__getitem__, metrics)
    )
    rows = []
    for point in panels.points:
        for label in panels.sweep.protocols:
            cells = [
                result.values.get((figure.sweep, point_text(point), label, metric)) for metric in metrics
            ]
            text = "".join(f"<td>{escape(format_estimate(cell) if cell else '-')}</td>" for cell in cells)
            rows.append(
                f"<tr><td>{escape(describe_point(point_text(point)))}</td><td>{escape(label)}</td>{text}</tr>"
            )
    section = f' <span class="where">section {escape(figure.section)}</span>' if figure.section else ""
    return (
        f'<section><h2>{escape(figure.title)}{section}</h2><div class="panels">{drawn}</div>'
        f"{_communities(result, name)}"
        f"{make_claims(result, claims_of(result, name))}"
        '<details><summary>Numbers</summary><div class="wide"><table><thead><tr><th>Point</th>'
        f"<th>Protocol</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details></section>"
    )
