"""The end of `roamcast league`: count causes, write the page, print the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from roamcast.cli.shared.campaign_command import warn_of_failures
from roamcast.cli.shared.limits import FAILED
from roamcast.cli.shared.progress import count_runs

if TYPE_CHECKING:
    from roamcast.report.result import CampaignResult


def finish(
    result: CampaignResult,
    unserved: Mapping[tuple[str, str], str],
    as_json: bool,
    markdown: Sequence[Path],
) -> None:
    """Write league.html and the Markdown files, print the league, and exit with 3 if runs failed."""
    from rich.console import Console

    from roamcast.api.league_causes import count_causes
    from roamcast.pipeline.spark.cluster import count_processors
    from roamcast.report.league.markdown import write_league
    from roamcast.report.league.page import make_league_page
    from roamcast.report.league.report import make_report
    from roamcast.report.league.standings import choose_pairs, rank_worlds
    from roamcast.report.league.terminal import show_league

    pairs = choose_pairs(rank_worlds(result), result.campaign.protocols)
    with count_runs(len(pairs)) as progress:
        causes = count_causes(result, pairs, count_processors(None), progress)
    report = make_report(result, unserved, causes)
    page = result.store.folder / "league.html"
    page.write(make_league_page(report).encode())
    for file in markdown:
        write_league(report, file)
    if as_json:
        print(json.dumps(report.record() | {"report": str(page)}, indent=1))
    else:
        show_league(report, Console())
        print(f"report: {page}", flush=True)
    if warn_of_failures(result):
        raise typer.Exit(FAILED)
