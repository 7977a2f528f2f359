"""The command `roamcast campaign watch`: figures and verdicts of a campaign while it runs."""

from __future__ import annotations

import json as json_format
import shlex
import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import FAILED
from roamcast.cli.shared.progress import stop_on_interrupt
from roamcast.cli.shared.routers import Routers, add_routers
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Ui, choose_session

if TYPE_CHECKING:
    from rich.live import Live

    from roamcast.lake.storage import StorageUrl
    from roamcast.pipeline.watching.watch import Watcher
    from roamcast.report.drawings.map import MapData
    from roamcast.report.result import CampaignResult

_BETWEEN_LINES = 10.0
"Interval between progress lines if there is no terminal [s]."


def watch(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder or URL.")],
    *,
    once: Annotated[bool, typer.Option("--once", help="Show what is committed now, and exit.")] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder of Spark's checkpoint; by default below DIR."),
    ] = None,
    router: Routers = None,
    master: Master = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each change.")] = False,
) -> None:
    """Show figures and verdicts of a running campaign.

    They are written to DIR/watch.html, too.
    """
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.watching.watch import Watcher

    add_routers(router)
    screen = _Screen(json=json, follow=not once)
    watcher = Watcher(
        folder, checkpoint=checkpoint, say=screen.print_line, show=screen.show, publish=screen.publish
    )
    screen.print_line(f"starting Spark to watch {len(watcher.plan.runs)} runs ...")
    again = shlex.join(["roamcast", "campaign", "watch", folder])
    with (
        stop_on_interrupt(f"stopped watching; continue with: {again}", screen.clear),
        open_session(choose_session(master, None, conf, ui, event_log)) as spark,
    ):
        watcher.watch(spark, once=once)
    if screen.print_result() and watcher.finished:
        raise typer.Exit(FAILED)


class _Screen:
    """The views of a watched campaign: the page, and the terminal or progress lines."""

    def __init__(self, *, json: bool, follow: bool) -> None:
        self.json = json
        self.follow = follow
        self.result: CampaignResult | None = None
        self.page: StorageUrl | None = None
        self._ground: list[MapData | None] = []
        self._live: Live | None = None
        self._printed, self._last = "", 0.0

    def print_line(self, line: str) -> None:
        """Print a line to stderr unless a view is drawn on the terminal."""
        if self._live is None:
            print(line, file=sys.stderr, flush=True)

    def publish(self, watcher: Watcher) -> None:
        """Write the page of the current results; with --json print a line of JSON."""
        from roamcast.cli.shared.campaign_command import first_run_map
        from roamcast.report.json_result import to_record
        from roamcast.report.page.page import make_page
        from roamcast.report.result import CampaignResult

        result = CampaignResult(watcher.store, watcher.so_far)
        if not self._ground:
            self._ground.append(first_run_map(result))
        file = watcher.store.folder / "watch.html"
        follow = self.follow and result.so_far is not None
        file.write(make_page(result, self._ground[0], follow=follow).encode())
        if self.page is None:
            self.print_line(f"page: {file}")
        self.result, self.page = result, file
        if self.json:
            print(json_format.dumps(to_record(result, file)), flush=True)

    def show(self, watcher: Watcher) -> None:
        """Redraw the view on a terminal; elsewhere print a changed line, at most every `_BETWEEN_LINES` s."""
        from roamcast.report.live_view import describe, draw

        line = describe(watcher)
        if not sys.stderr.isatty():
            if line != self._printed and monotonic() - self._last >= _BETWEEN_LINES:
                print(line, file=sys.stderr, flush=True)
                self._printed, self._last = line, monotonic()
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(draw(watcher, self.result), refresh=True)

    def clear(self) -> None:
        """Remove the view from the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def print_result(self) -> int:
        """Print the result; return the number of failed runs."""
        from roamcast.cli.shared.campaign_command import show_result, warn_of_failures

        assert self.result is not None
        if not self.json:
            if self.result.marker:
                print(self.result.marker)
            show_result(self.result)
            print(f"page: {self.page}", flush=True)
        return warn_of_failures(self.result)
