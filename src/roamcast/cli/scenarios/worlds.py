"""The command `roamcast worlds`: draw random scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from roamcast.cli.shared.limits import LARGEST_SEED
from roamcast.errors import UserError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

MOST_WORLDS = 100_000


@app.callback()
def worlds() -> None:
    """Draw random scenarios from declared ranges."""


@app.command("draw")
def draw(
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the first world.")],
    count: Annotated[
        int, typer.Option(min=1, max=MOST_WORLDS, help="Number of worlds: of this seed and the next ones.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the files; by default one world is printed.")
    ] = None,
) -> None:
    """Draw random scenarios from declared ranges.

    The same seed gives the same scenario.
    """
    from roamcast.advisor.drawing.draw import draw_text

    if out is None:
        if count > 1:
            raise UserError(f"--count {count}: several worlds need --out DIR")
        print(draw_text(seed), end="")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number in range(seed, seed + count):
            file = out / f"world-{number}.toml"
            file.write_text(draw_text(number), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror}") from None
    print(f"{out}: {count} {'world' if count == 1 else 'worlds'}, world-{seed}.toml to world-{number}.toml")
