"""The command `roamcast compare`: compare protocols in one scenario."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import MOST_SEEDS
from roamcast.cli.shared.routers import Routers, add_routers, spell_routers
from roamcast.cli.shared.spark_options import Replace, Strict, spark_command
from roamcast.errors import UserError
from roamcast.files import safe_name

if TYPE_CHECKING:
    from roamcast.pipeline.spark.cluster import SparkOptions
    from roamcast.scenario.model import Scenario


@spark_command
def command(
    scenario: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="Scenario file, or name of a shipped scenario."),
    ],
    *,
    protocols: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="Protocols to compare; by default all that can run in the scenario."
        ),
    ] = None,
    router: Routers = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Number of seeds.")] = 5,
    out: Annotated[
        str | None, typer.Option(help="Results folder for facts, tables and report, or s3://...")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario. May be repeated."),
    ] = None,
    where: SparkOptions,
    replace: Replace = False,
    strict: Strict = False,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="typical|all",
            help="Write replays of a typical seed and of an outlier, or of all, and link them in the report.",
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            metavar="GOAL",
            help="What decides which protocol is best: delivery, delay, messages, airtime or energy.",
        ),
    ] = "delivery",
    deadline: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Count deliveries later than this as lost, as in "2 s".'),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="FORMATS", help="Also write the figures as files: svg, pdf or png, as in svg,pdf."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run protocols in one scenario on common seeds and compare their metrics."""
    from roamcast.api.comparing import make_comparison, read_deadline
    from roamcast.cli.shared.campaign_command import finish, output_name, run_campaign, split_formats
    from roamcast.cli.shared.output_folder import find_folder
    from roamcast.cli.shared.replaying import CHOICES, write_replays
    from roamcast.scenario.read import load, read_toml, split_override
    from roamcast.scenario.shipped import locate

    if replay not in (None, *CHOICES):
        raise UserError(f"--replay {replay}: expected {' or '.join(CHOICES)}")
    kinds = split_formats(figures)
    latest = None if deadline is None else read_deadline(deadline)
    settings = dict(split_override(pair) for pair in set_ or [])
    added = add_routers(router)
    file = locate(scenario)
    if "sweeps" in read_toml(file)[1]:
        raise UserError(
            f"{file}: is a campaign, expected a scenario; run it with: roamcast campaign run {file} --out DIR"
        )
    known = load(file, settings)
    chosen = _choose_all(known) if protocols is None else [name.strip() for name in protocols.split(",")]
    chosen += [name for name in added if name not in chosen]
    campaign = make_comparison(known.name, file, chosen, seeds, settings, goal=goal, deadline=latest)
    question = {"compare": output_name(file, "scenarios"), "set": settings, "protocols": sorted(chosen)}
    base = f"out/compare-{safe_name(known.name)}"
    folder = out or (base if replace else find_folder(base, question))
    words = ["roamcast", "compare", scenario, "--protocols", ",".join(chosen), "--seeds", str(seeds)]
    words += spell_routers(router)
    words += ["--out", folder, *(word for pair in set_ or [] for word in ("--set", pair))]
    words += ["--replay", replay] if replay else []
    words += ["--goal", goal] if goal != "delivery" else []
    words += ["--deadline", deadline] if deadline is not None else []
    words += ["--figures", figures] if figures is not None else []
    words += where.arguments()
    result = run_campaign(campaign, folder, shlex.join(words), question, where=where, replace=replace)
    if replay is not None:
        write_replays(result, chosen, whole=replay == "all")
    finish(result, json, strict, figures=kinds)


def _choose_all(scenario: Scenario) -> list[str]:
    """Return all protocols that can run in the scenario; print the others with the reason to stderr."""
    from roamcast.api.comparing import choose_able

    able, left_out = choose_able(scenario)
    for reason in left_out:
        print(f"roamcast: {reason}", file=sys.stderr)
    return able
