"""The command `roamcast why`: explain undelivered events and unsatisfied requests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from roamcast.why.presentation.results import CauseTally, Explanation, RunTally


def command(  # noqa: PLR0917 - typer takes options as parameters
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="Facts folder of `roamcast run --facts`, campaign folder, or run of a campaign: DIR/run=ID.",
        ),
    ],
    event: Annotated[
        str | None, typer.Option(metavar="E", help="Explain one event, as publisher/sequence: 0/641.")
    ] = None,
    node: Annotated[int | None, typer.Option(metavar="N", help="Node that expected the event.")] = None,
    request: Annotated[
        str | None, typer.Option(metavar="R", help="Explain one request, as node/number: 9/3.")
    ] = None,
    points: Annotated[
        bool, typer.Option("--points", help="Campaigns: report each point of a sweep separately.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explain why events were not delivered and requests not satisfied."""
    from roamcast.errors import UserError
    from roamcast.lake.storage import StorageUrl

    if (event is None) != (node is None):
        raise UserError("--event and --node: expected both (explain one delivery) or none (count all causes)")
    if request is not None and event is not None:
        raise UserError("--request and --event: expected only one of them")
    if (StorageUrl(folder) / "campaign.json").exists():
        if event is not None or request is not None:
            raise UserError(f"{folder} is a campaign, expected one run: {folder}/run=ID")
        _print_campaign(folder, points, json)
    elif points:
        raise UserError(f"--points is for campaigns, and {folder} is not a campaign folder")
    elif event is not None or request is not None:
        _print_explanation(_explanation(folder, event, node, request), json)
    else:
        _print_run(folder, json)


def _explanation(folder: str, event: str | None, node: int | None, request: str | None) -> Explanation:
    from roamcast.lake.reading import read_facts
    from roamcast.why.presentation.explanation import explain_event, explain_request
    from roamcast.why.presentation.names import read_publication, read_request

    if request is not None:
        return explain_request(read_facts(folder), read_request(request))
    assert event is not None and node is not None
    publication = read_publication(event)
    return explain_event(read_facts(folder), publication, node)


def _print_explanation(explanation: Explanation, json: bool) -> None:
    import msgspec

    if json:
        _print_json(msgspec.to_builtins(explanation))
    else:
        print("\n".join(explanation.story))


def _print_run(folder: str, json: bool) -> None:
    from rich.console import Console

    from roamcast.lake.reading import read_facts
    from roamcast.why.presentation.tally import tally

    facts = read_facts(folder)
    tallied = tally(facts)
    if json:
        run = {"scenario": facts.run.scenario, "seed": facts.run.seed, "parameters": facts.run.parameters}
        _print_json(run | tallied.record())
    else:
        for table in _tables(tallied):
            Console().print(table)


def _print_campaign(folder: str, points: bool, json: bool) -> None:
    from rich.console import Console

    from roamcast.cli.shared.progress import count_runs
    from roamcast.lake.reading import read_facts
    from roamcast.pipeline.spark.cluster import count_processors
    from roamcast.report.result import describe_point
    from roamcast.report.status import CampaignStatus
    from roamcast.results.results_folder import ResultsFolder
    from roamcast.why.presentation.tally import tally_runs

    store = ResultsFolder(folder)
    standing = CampaignStatus(store)
    labels: dict[str, str] = {}
    for row in store.read_table("points").to_pylist():
        # A run that belongs to several points is counted at the first.
        at = f", {row['sweep']} at {describe_point(row['point'])}" if points else ""
        label = f"{row['protocol']}{at}"
        labels.setdefault(row["run"], label)
    runs = [(labels[run], str(store.folder / f"run={run}")) for run in sorted(standing.survey.done)]
    with count_runs(len(runs)) as progress:
        tallied = tally_runs(runs, count_processors(None), progress, read_facts)
    missing = len(standing.plan) - len(runs)
    if json:
        protocols = [tallied.protocols[label].record() for label in sorted(tallied.protocols)]
        _print_json(
            {
                "title": standing.campaign.title,
                "runs": len(runs),
                "not_done": missing,
                "unreadable": tallied.unreadable,
                "protocols": protocols,
            }
        )
        return
    console = Console()
    for label in sorted(tallied.protocols):
        runs_of = tallied.protocols[label].runs
        for table in _tables(tallied.protocols[label], f"{label}, {runs_of} run{'s' * (runs_of != 1)}: "):
            console.print(table)
    for place, error in tallied.unreadable.items():
        print(f"{place}: {error}", file=sys.stderr)
    if missing:
        print(f"{missing} of {len(standing.plan)} planned runs are not done")


def _print_json(value: dict[str, Any]) -> None:
    import msgspec

    print(msgspec.json.encode(value).decode())


def _tables(tallied: RunTally, lead: str = "") -> list[Table]:
    tables = []
    if tallied.events.expected or not tallied.requests.expected:
        lost = f"{lead}{{}} of {{}} expected deliveries were lost"
        tables.append(_table(tallied.events, lost, "--event {} --node {}"))
    if tallied.requests.expected:
        tables.append(
            _table(tallied.requests, f"{lead}{{}} of {{}} requests were not satisfied", "--request {}")
        )
    return tables


def _table(counted: CauseTally, title: str, case: str) -> Table:
    from rich.table import Table

    share = f", {counted.missed / counted.expected:.1%}" if counted.missed else ""
    table = Table(
        title=title.format(f"{counted.missed:,}", f"{counted.expected:,}") + share, title_justify="left"
    )
    table.add_column("cause")
    for heading in ("losses", "share", "proven"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("example", no_wrap=True)
    for each in counted.causes:
        options = case.format(each.about, each.node)
        where = f"{Path(each.run).name}\n{options}" if each.run else options
        share = f"{each.times / counted.missed:.1%}"
        table.add_row(
            each.description, f"{each.times:,}", share, f"{each.proven:,}" if each.proven else "", where
        )
    return table
