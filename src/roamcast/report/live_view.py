"""The view of a watched campaign on a terminal: progress, and verdicts or metrics so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from roamcast.campaign.plan import point_text
from roamcast.report.result import CampaignResult, describe_point
from roamcast.report.terminal import COLOURS, side_by_side

if TYPE_CHECKING:
    from roamcast.pipeline.watching.watch import Watcher

_WIDTH = 40


def describe(watcher: Watcher) -> str:
    """Return the progress of a campaign as one line."""
    survey, total = watcher.survey, len(watcher.plan.runs)
    waiting = len(survey.staged) + len(survey.done.keys() - watcher.measured)
    parts = [f"{len(watcher.measured)} of {total} runs so far"]
    parts += [f"{waiting} more to be measured"] if waiting else []
    parts += [f"{len(survey.failed)} failed"] if survey.failed else []
    if survey.missing and watcher.campaigns.folder.local is not None and watcher.campaigns.holder() is None:
        again = watcher.notes.get("command") or "roamcast campaign run"
        parts.append(f"nobody runs it now; go on with: {again}")
    return ", ".join(parts)


def draw(watcher: Watcher, result: CampaignResult | None) -> RenderableType:
    """Return the present state of the campaign for the terminal."""
    parts: list[RenderableType] = [
        Text(watcher.campaign.title, style="bold"),
        ProgressBar(total=len(watcher.plan.runs), completed=len(watcher.measured), width=_WIDTH),
        Text(describe(watcher)),
    ]
    if result is not None and result.claims:
        parts.append(_claims(result))
    elif result is not None and result.values:
        name, sweep = next(iter(result.campaign.sweeps.items()))
        place = (name, point_text(sweep.expand()[0]))
        if len(sweep.expand()) > 1:
            parts.append(Text(describe_point(place[1])))
        parts.append(side_by_side(result, place, sweep.protocols, slice(None)))
    return Group(*parts)


def _claims(result: CampaignResult) -> Table:
    """Return a line for each claim."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for judged in result.claims:
        table.add_row(
            f"[{COLOURS[judged.verdict]}]{judged.verdict_text}[/]",
            escape(judged.claim.says),
            escape(judged.value_text),
        )
    return table
