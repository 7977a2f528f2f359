"""Progress bars of campaigns, and the handling of Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from roamcast.campaign.progress import Progress
    from roamcast.pipeline.campaign_runner import ProgressListener

_BETWEEN_LINES = 10.0
"Interval between progress lines if there is no terminal for a bar [s]."

PROGRESS = "ROAMCAST_PROGRESS"
"Environment variable; `json` writes the progress to stderr as one JSON object per line, for programs."


@contextmanager
def show_progress(resume: str) -> Iterator[ProgressListener]:
    """Yield a listener that draws a progress bar; after Ctrl-C or SIGTERM print how to resume."""
    message = f"stopped; finished runs are kept. Resume with: {resume}"
    if os.environ.get(PROGRESS) == "json":
        _print_json(command=resume)
    with drawing() as (listener, clear), stop_on_interrupt(message, clear):
        yield listener


@contextmanager
def drawing() -> Iterator[tuple[ProgressListener, Callable[[], object]]]:
    """Yield a listener and the function that removes its bar.

    The listener draws a bar on a terminal or in a notebook; elsewhere it prints a line every `_BETWEEN_LINES`
    seconds.
    """
    from roamcast.pipeline.campaign_runner import ProgressListener

    bar = _JsonLines() if os.environ.get(PROGRESS) == "json" else _Bar()
    try:
        yield ProgressListener(say=bar.print_above, watch=bar.show), bar.stop
    finally:
        bar.stop()


@contextmanager
def stop_on_interrupt(message: str, clear: Callable[[], object]) -> Iterator[None]:
    """End the block after Ctrl-C or SIGTERM: call `clear`, print `message`, and exit with code 130."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        clear()
        print(message, file=sys.stderr, flush=True)
        raise typer.Exit(130) from None
    finally:
        clear()


class _JsonLines:
    """Progress as lines of JSON; messages are printed as they are."""

    def __init__(self) -> None:
        self._last = ""

    def print_above(self, line: str) -> None:
        """Print a message."""
        print(line, file=sys.stderr, flush=True)

    def show(self, progress: Progress) -> None:
        """Print the progress if it has changed."""
        text = describe(progress)
        if text != self._last:
            self._last = text
            done, failed = progress.earlier + progress.done, progress.earlier_failed + progress.failed
            total = progress.planned or len(progress.runs)
            state = {"done": done, "failed": failed, "total": total, "left": progress.left}
            _print_json(progress=state | {"says": text})

    def stop(self) -> None:
        """Do nothing: there is no bar to remove."""


def _print_json(**values: object) -> None:
    print(json.dumps(values), file=sys.stderr, flush=True)


class _Bar:
    """A progress bar of rich on a terminal or in a notebook; elsewhere a progress line every few seconds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        console = Console(stderr=True)
        self._has_display = console.is_terminal or console.is_jupyter
        columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
        self._bar = RichProgress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("", total=None, visible=False)
        self._last = monotonic()

    def print_above(self, line: str) -> None:
        """Print a line above the bar."""
        if self._has_display:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def show(self, progress: Progress) -> None:
        """Redraw the bar, or print a progress line if one is due."""
        line = describe(progress)
        if self._has_display:
            self._bar.start()
            total = progress.planned or len(progress.runs)
            ended = progress.earlier + progress.done + progress.earlier_failed + progress.failed
            self._bar.update(self._task, total=total, completed=ended, description=line, visible=True)
        elif monotonic() - self._last >= _BETWEEN_LINES:
            print(line, file=sys.stderr, flush=True)
            self._last = monotonic()

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()


@contextmanager
def count_runs(total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of runs read; it draws a bar on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("runs read"))
    with RichProgress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def describe(progress: Progress) -> str:
    """Return the progress in one line: runs done and failed, estimated time left."""
    done, failures = progress.earlier + progress.done, progress.earlier_failed + progress.failed
    total = progress.planned or len(progress.runs)
    failed = f", {failures} failed" if failures else ""
    left = progress.left
    time = "" if left is None else f", about {_duration(left)} left"
    return f"{done} of {total} runs done{failed}{time}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
