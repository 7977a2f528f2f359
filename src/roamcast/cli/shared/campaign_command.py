"""Functions of the commands that run campaigns: run with a progress bar, judge again, write the report."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roamcast.campaign.lineage import MEASURED
from roamcast.campaign.plan import apply_options, check_alternatives, read_campaign
from roamcast.campaign.tables import HELD
from roamcast.cli.shared.limits import DISAGREED, FAILED
from roamcast.cli.shared.output_folder import reserve_folder
from roamcast.cli.shared.progress import show_progress
from roamcast.cli.shared.routers import add_routers, join_campaign, spell_routers
from roamcast.errors import UserError
from roamcast.scenario.shipped import shipped

if TYPE_CHECKING:
    from roamcast.campaign.campaign import Campaign
    from roamcast.lake.storage import StorageUrl
    from roamcast.pipeline.campaign_runner import ProgressListener
    from roamcast.pipeline.spark.cluster import SparkOptions
    from roamcast.report.drawings.map import MapData
    from roamcast.report.result import CampaignResult

FORMATS = ("png", "pdf", "svg")


def run_campaign_file(
    file: Path,
    out: str,
    *,
    where: SparkOptions,
    seeds: int | None,
    quick: bool,
    only: Sequence[str],
    replace: bool = False,
    command: str | None = None,
    readings: bool = False,
    routers: Sequence[str] = (),
    hearing: Callable[[str], AbstractContextManager[ProgressListener]] = show_progress,
) -> CampaignResult:
    """Run the campaign in `file` with the given options into the folder `out`; return its result."""
    added = add_routers(routers)
    whole = join_campaign(read_campaign(file), added)
    campaign = apply_options(whole, seeds=seeds, quick=quick, only=only, readings=readings)
    if readings:
        check_alternatives(whole, file)
    if command is None:
        words = ["roamcast", "campaign", "run", str(file), "--out", out]
        words += [word for figure in only for word in ("--figure", figure)]
        words += spell_routers(routers)
        words += where.arguments()
        words += ["--seeds", str(seeds)] if seeds else []
        command = shlex.join(words + ["--quick"] * quick)
    question: dict[str, Any] = {
        "campaign": output_name(file, "campaigns"),
        "quick": quick,
        "readings": readings,
    }
    if added:
        question["routers"] = added
    return run_campaign(campaign, out, command, question, where=where, replace=replace, hearing=hearing)


def output_name(file: Path, kind: str) -> str:
    """Return the name of a shipped file without suffix, or the absolute path of any other file."""
    ours = shipped(kind).get(file.stem)
    return file.stem if ours is not None and ours.resolve() == file.resolve() else str(file.resolve())


def run_campaign(
    campaign: Campaign,
    out: str,
    command: str,
    question: dict[str, Any],
    *,
    where: SparkOptions,
    replace: bool = False,
    hearing: Callable[[str], AbstractContextManager[ProgressListener]] = show_progress,
) -> CampaignResult:
    """Run `campaign` into the folder `out` with a progress bar; return its result.

    `command` is the command line that resumes it, `question` identifies the configuration that owns the
    folder, and `hearing` makes the progress listener for a command line.
    """
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.campaign_runner import CampaignRunner
    from roamcast.report.result import CampaignResult

    store = CampaignFolder(out)
    with hearing(command) as listener:
        runner = CampaignRunner(campaign, store, listener)
        reserve_folder(store, question, (run.id for run in runner.plan.runs), replace=replace)
        shape_of = {key: question.get(key, False) for key in ("quick", "readings")}
        notes = {**shape_of, "command": command, "question": question}
        account = runner.run(where, **notes)
        store.write_campaign(campaign, **notes, seconds=account.seconds)
    return CampaignResult(store)


def remeasure(folder: str, where: SparkOptions, command: str) -> None:
    """Measure, summarise and judge the finished runs of `folder` on Spark."""
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.campaign_runner import CampaignRunner
    from roamcast.pipeline.spark.session import open_session

    store = CampaignFolder(folder)
    campaign, notes = store.read_campaign()
    with show_progress(command) as listener:
        runner = CampaignRunner(campaign, store, listener)
        with runner.prepare(**notes):
            survey = runner.survey()
            listener.say(f"starting Spark for {len(survey.done)} runs ...")
            with open_session(where) as spark:
                runner.evaluate(spark, survey)


def judge_again(folder: str, where: SparkOptions, command: str) -> None:
    """Summarise and judge the metrics of `folder` again if other code computed its tables."""
    from roamcast.results.results_folder import ResultsFolder

    finished = ResultsFolder(folder)
    finished.check_layout()
    stale = finished.stale()
    if not stale or stale & MEASURED or finished.holder() is not None:
        return
    from roamcast.pipeline.campaign_folder import CampaignFolder
    from roamcast.pipeline.measuring.derive import derive_again
    from roamcast.pipeline.spark.session import open_session

    store = CampaignFolder(folder)
    with show_progress(command) as listener:
        listener.say(f"starting Spark to recompute {', '.join(sorted(stale))} ...")
        with store.lock(), open_session(where) as spark:
            derive_again(spark, store)


def prepare_curves(result: CampaignResult) -> None:
    """Compute the curves of a comparison; a folder that cannot be written or read leaves it without."""
    from roamcast.report.comparing.curves import write_curves

    try:
        write_curves(result)
    except OSError as error:
        print(f"roamcast: warning: no curves: {error.strerror or error}", file=sys.stderr)


def write_report(result: CampaignResult) -> StorageUrl:
    """Write report.html into the campaign's folder; return its location."""
    from roamcast.report.page.page import make_page

    file = result.store.folder / "report.html"
    file.write(make_page(result, first_run_map(result)).encode())
    return file


def first_run_map(result: CampaignResult) -> MapData | None:
    """Return the map of the campaign's first run.

    Return None if its files are missing or were written by other code.
    """
    from roamcast.api.maps import map_data
    from roamcast.scenario.model import Scenario

    if not result.tables["plan"]:
        return None
    first = result.tables["points"][0]["run"]
    run = next(row for row in result.tables["plan"] if row["run"] == first)
    try:
        return map_data(Scenario.model_validate_json(run["scenario"]), run["seed"])
    except (UserError, ValueError):  # a file that the scenario names is missing, or other code wrote the plan
        return None


def save_figures(result: CampaignResult, kind: str) -> list[StorageUrl]:
    """Write the figures of the report as files of format `kind` into DIR/figures; return where they are."""
    from roamcast.report.drawings.catalogue import list_figures

    if kind not in FORMATS:
        raise UserError(f"--figures {kind}: expected {', '.join(FORMATS)}")
    folder = result.store.folder / "figures"
    folder.make_folder()
    files = []
    for name, figure in list_figures(result).items():
        place = folder / f"{name}.{kind}"
        place.write(figure.render(kind))
        files.append(place)
    return files


def split_formats(text: str | None) -> list[str]:
    """Return the formats of figures in a list such as `svg,pdf`; raise UserError if one is unknown."""
    kinds = [] if text is None else [kind.strip() for kind in text.split(",")]
    for kind in kinds:
        if kind not in FORMATS:
            raise UserError(f"--figures {text}: expected {', '.join(FORMATS)}, separated by commas")
    return kinds


def finish(
    result: CampaignResult, as_json: bool = False, strict: bool = False, figures: Sequence[str] = ()
) -> None:
    """Write the report, print the result, and exit with the code for failed runs or claims not held.

    `figures` are formats in which figures are written as files, too.
    """
    from roamcast.report.json_result import to_record
    from roamcast.report.replay_index import read_replays

    prepare_curves(result)
    report = write_report(result)
    files = [file for kind in figures for file in save_figures(result, kind)]
    if as_json:
        print(json.dumps(to_record(result, report), indent=1))
    else:
        show_result(result)
        print(f"report: {report}", flush=True)
        for figure in files:
            print(f"figure: {figure}", flush=True)
        for file in dict.fromkeys(each.file for each in read_replays(result)):
            print(f"replay: {result.store.folder / 'replays' / file}", flush=True)
    failures = warn_of_failures(result)
    wrong = not result.notes.get("readings") and any(judged.verdict != HELD for judged in result.claims)
    if strict and (failures or wrong):
        raise typer.Exit(DISAGREED)
    if failures:
        raise typer.Exit(FAILED)


def show_result(result: CampaignResult) -> None:
    """Print the result of a campaign: readings, claims or comparison."""
    from rich.console import Console

    from roamcast.report.terminal import show_claims, show_comparison, show_readings

    console = Console()
    if result.notes.get("readings"):
        show_readings(result, console)
    elif result.campaign.claims:
        show_claims(result, console)
    else:
        show_comparison(result, console)
    if result.notes.get("quick"):
        console.print("[bold]Quick version[/]: few seeds and few points. Omit --quick to run all of them.")
    seconds = result.notes.get("seconds", {})
    if took := ", ".join(f"{stage} {spent:.1f} s" for stage, spent in seconds.items()):
        console.print(f"duration: {took}", highlight=False)


def warn_of_failures(result: CampaignResult) -> int:
    """Print a warning about failed runs to stderr; return their number."""
    failures = result.failures()
    if failures:
        count = f"{len(failures)} of {len(result.tables['runs'])} runs failed"
        where = f"roamcast campaign runs {result.store.folder} --failed"
        print(
            f"roamcast: warning: {count}; the first: {failures[0][1]}\nlist them with: {where}",
            file=sys.stderr,
        )
    return len(failures)
