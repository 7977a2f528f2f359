"""roamcast campaign watch: figures and verdicts of a campaign while it runs."""

from __future__ import annotations

import json as json_format
import shlex
import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import FAILED
from roamcast.cli.shared.progress import stopping
from roamcast.cli.shared.sparking import Conf, EventLog, Master, Ui, choose

if TYPE_CHECKING:
    from rich.live import Live

    from roamcast.lake.place import Place
    from roamcast.pipeline.watching.watch import Watcher
    from roamcast.report.drawings.map import Ground
    from roamcast.report.result import Result

_BETWEEN_LINES = 10.0
"Seconds between lines where there is no terminal to draw on."


def watch(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder or URL.")],
    *,
    once: Annotated[bool, typer.Option("--once", help="Show what is committed now, and end.")] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Folder of Spark's checkpoint; by default below DIR."),
    ] = None,
    master: Master = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each change.")] = False,
) -> None:
    """Show figures and verdicts of a running campaign, here and in DIR/watch.html."""
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.watching.watch import Watcher

    screen = _Screen(json=json, follow=not once)
    watcher = Watcher(folder, checkpoint=checkpoint, say=screen.say, show=screen.show, publish=screen.publish)
    screen.say(f"starting Spark to watch {len(watcher.plan.runs)} runs ...")
    again = shlex.join(["roamcast", "campaign", "watch", folder])
    with (
        stopping(f"stopped watching; go on with: {again}", screen.clear),
        open_session(choose(master, None, conf, ui, event_log)) as spark,
    ):
        watcher.watch(spark, once=once)
    if screen.end() and watcher.finished:
        raise typer.Exit(FAILED)


class _Screen:
    """What is seen of a campaign while it is watched: the page, and the terminal or lines of it."""

    def __init__(self, *, json: bool, follow: bool) -> None:
        self.json = json
        self.follow = follow
        self.result: Result | None = None
        self.page: Place | None = None
        self._ground: list[Ground | None] = []
        self._live: Live | None = None
        self._told, self._last = "", 0.0

    def say(self, line: str) -> None:
        """A line about what happens now, where nothing is drawn."""
        if self._live is None:
            print(line, file=sys.stderr, flush=True)

    def publish(self, watcher: Watcher) -> None:
        """Write the page of what is measured now; a line of JSON, if that was asked for."""
        from roamcast.cli.shared.conducting import look_at_ground
        from roamcast.report.page.page import make_page
        from roamcast.report.record import record
        from roamcast.report.result import Result

        result = Result(watcher.store, watcher.so_far)
        if not self._ground:
            self._ground.append(look_at_ground(result))
        file = watcher.store.folder / "watch.html"
        follow = self.follow and result.so_far is not None
        file.write(make_page(result, self._ground[0], follow=follow).encode())
        if self.page is None:
            self.say(f"page: {file}")
        self.result, self.page = result, file
        if self.json:
            print(json_format.dumps(record(result, file)), flush=True)

    def show(self, watcher: Watcher) -> None:
        """Draw anew on a terminal; elsewhere a line now and then."""
        from roamcast.report.so_far import describe, draw

        line = describe(watcher)
        if not sys.stderr.isatty():
            if line != self._told and monotonic() - self._last >= _BETWEEN_LINES:
                print(line, file=sys.stderr, flush=True)
                self._told, self._last = line, monotonic()
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(draw(watcher, self.result), refresh=True)

    def clear(self) -> None:
        """Take away what is drawn."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def end(self) -> int:
        """Tell what came out; how many runs failed."""
        from roamcast.cli.shared.conducting import show_result, warn_of_failures

        assert self.result is not None
        if not self.json:
            if self.result.marker:
                print(self.result.marker)
            show_result(self.result)
            print(f"page: {self.page}", flush=True)
        return warn_of_failures(self.result)
