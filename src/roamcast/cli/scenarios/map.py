"""The command `roamcast map`: draw a map of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from roamcast.api.maps import map_data
from roamcast.cli.shared.limits import LARGEST_SEED
from roamcast.errors import UserError
from roamcast.files import safe_name

FORMATS = ("svg", "png", "pdf")


def command(
    scenario: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="Scenario file, or name of a shipped scenario."),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the movement.")] = 1,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help='Time, for example "300 s"; by default a minute after the warm-up.'
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file: NAME.svg, .png or .pdf.")
    ] = None,
) -> None:
    """Draw a map: groups, zones, publishers and the last minute of movement."""
    from roamcast.report.drawings.map import describe_map, save_map
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate
    from roamcast.units import parse_time

    world = load(locate(scenario), set_ or ())
    moment = None if at is None else parse_time(at)
    if moment is not None and not 0 <= moment <= world.duration:
        raise UserError(f"--at {at}: the run lasts from 0 s to {world.duration:g} s")
    file = out or Path(f"{safe_name(world.name)}-map.svg")
    if file.suffix.removeprefix(".") not in FORMATS:
        raise UserError(f"--out {file}: expected a name that ends in .{', .'.join(FORMATS)}")
    ground = map_data(world, seed, moment)
    try:
        save_map(ground, file)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None
    print(describe_map(ground))
    print(file)
