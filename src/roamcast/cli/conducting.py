"""What the verbs that run campaigns share: conducting one with a bar, and writing its report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.cli.progress import listening
from roamcast.errors import UserError
from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.plan import check_alternatives, read_campaign, shape
from roamcast.pipeline.store import Store

if TYPE_CHECKING:
    from roamcast.pipeline.campaign import Campaign
    from roamcast.report.result import Result

FORMATS = ("png", "pdf", "svg")


def conduct_file(
    file: Path,
    out: Path,
    *,
    master: str | None,
    seeds: int | None,
    quick: bool,
    only: Sequence[str],
    command: str | None = None,
    readings: bool = False,
) -> Result:
    """Conduct the campaign in `file`, in the shape asked for; its result."""
    asked = read_campaign(file)
    campaign = shape(asked, seeds=seeds, quick=quick, only=only, readings=readings)
    if readings:
        check_alternatives(asked, file)
    if command is None:
        words = ["roamcast", "campaign", "run", str(file), "--out", str(out)]
        words += [word for figure in only for word in ("--only", figure)]
        words += ["--master", master] if master else []
        words += ["--seeds", str(seeds)] if seeds else []
        command = shlex.join(words + ["--quick"] * quick)
    return conduct(campaign, out, command, master=master, quick=quick, readings=readings)


def conduct(
    campaign: Campaign,
    out: Path,
    command: str,
    *,
    master: str | None,
    quick: bool = False,
    readings: bool = False,
) -> Result:
    """Conduct `campaign` into `out` with a bar on the terminal; `command` resumes it."""
    from roamcast.report.result import Result

    store = Store(out)
    with listening(command) as listener:
        conductor = Conductor(campaign, store, listener)
        notes = {"quick": quick, "readings": readings, "command": command}
        account = conductor.conduct(master, **notes)
        store.write_campaign(campaign, **notes, seconds=account.seconds)
    return Result(store)


def measure_again(store: Store, master: str | None, command: str) -> None:
    """Measure, summarise and judge what is done in `store`."""
    from roamcast.pipeline.session import open_session

    campaign, notes = store.read_campaign()
    with listening(command) as listener:
        conductor = Conductor(campaign, store, listener)
        with conductor.prepare(**notes):
            survey = conductor.survey()
            listener.say(f"starting Spark to measure {len(survey.done)} runs ...")
            with open_session(master) as spark:
                conductor.evaluate(spark, survey)


def write_report(result: Result) -> Path:
    """Write the campaign's page; where it is."""
    from roamcast.pipeline.store import replace_file
    from roamcast.report.page import make_page

    file = result.store.folder / "report.html"
    replace_file(file, make_page(result).encode())
    return file


def save_figures(result: Result, kind: str) -> list[Path]:
    """Write the campaign's figures as files of one kind; where they are."""
    from roamcast.report.figures import Panels

    if kind not in FORMATS:
        raise UserError(f"figures come as {', '.join(FORMATS)}, not as {kind!r}")
    if not result.campaign.figures:
        raise UserError("this campaign declares no figures, so there are none to write as files")
    folder = result.store.folder / "figures"
    folder.mkdir(exist_ok=True)
    files = [folder / f"{name}.{kind}" for name in result.campaign.figures]
    for name, file in zip(result.campaign.figures, files, strict=True):
        Panels(result, name).save(file)
    return files


def finish(result: Result, as_json: bool = False) -> None:
    """Write the report and show the claims, or the protocols side by side where nothing is claimed."""
    from rich.console import Console

    from roamcast.report.record import record
    from roamcast.report.terminal import show_claims, show_comparison, show_readings

    report = write_report(result)
    if as_json:
        print(json.dumps(record(result, report), indent=1))
        return
    console = Console()
    if result.notes.get("readings"):
        show_readings(result, console)
    elif result.campaign.claims:
        show_claims(result, console)
    else:
        show_comparison(result, console)
    failures = result.failures()
    if failures:
        console.print(f"{len(failures)} runs failed; the first: {failures[0][1]}", highlight=False)
        console.print(
            f"list them with: roamcast campaign runs {result.store.folder} --failed", highlight=False
        )
    if result.notes.get("quick"):
        console.print(
            "[bold]This is the quick version[/]: few seeds and few points. Leave out --quick for the whole."
        )
    took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in result.notes["seconds"].items())
    console.print(f"took: {took}", highlight=False)
    print(f"report: {report}")
