"""The command `roamcast studio`: a local web application for scenarios, comparisons and results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder with scenarios, node configurations and results."),
    ] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the address in the browser.")] = False,
) -> None:
    """Serve scenarios, comparisons, replays and tables of a folder to a browser on this machine."""
    from roamcast.studio.server import serve

    def started(address: str) -> None:
        print(f"{address}\nCtrl-C ends the server", flush=True)
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(folder, port, started)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
