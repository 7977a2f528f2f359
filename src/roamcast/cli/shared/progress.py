"""How a campaign's progress looks on a terminal, and how Ctrl-C ends it."""

from __future__ import annotations

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
"Seconds between progress lines where there is no terminal to draw a bar on."


@contextmanager
def show_progress(resume: str) -> Iterator[ProgressListener]:
    """A listener that draws a bar; Ctrl-C or SIGTERM ends the block with a word on how to resume."""
    from roamcast.pipeline.campaign_runner import ProgressListener

    bar = _Bar()
    with stop_on_interrupt(f"stopped; finished runs are kept. Resume with: {resume}", bar.clear):
        yield ProgressListener(say=bar.print_above, watch=bar.show)


@contextmanager
def stop_on_interrupt(word: str, clear: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end the block with a word and exit code 130; `clear` removes what was drawn."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        clear()
        print(word, file=sys.stderr, flush=True)
        raise typer.Exit(130) from None
    finally:
        clear()


class _Bar:
    """One line that is redrawn on a terminal; a line now and then elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._drawn = ""
        self._last = monotonic()

    def print_above(self, line: str) -> None:
        """Print a line above the bar."""
        self.clear()
        print(line, file=sys.stderr, flush=True)

    def show(self, progress: Progress) -> None:
        """Draw the bar anew."""
        line = describe(progress)
        if self._terminal and line != self._drawn:
            print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)
            self._drawn = line
        elif not self._terminal and monotonic() - self._last >= _BETWEEN_LINES:
            print(line, file=sys.stderr, flush=True)
            self._last = monotonic()

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._drawn = ""


@contextmanager
def count_runs(total: int) -> Iterator[Callable[[int], None]]:
    """Something to call with the number of runs that are read; a line on a terminal, nothing elsewhere."""
    terminal = sys.stderr.isatty()

    def show(done: int) -> None:
        if terminal:
            print(f"\r{done} of {total} runs read\033[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def describe(progress: Progress) -> str:
    """Progress in one line: a bar, runs done and failed, time left."""
    done, failures = progress.earlier + progress.done, progress.earlier_failed + progress.failed
    total = progress.planned or len(progress.runs)
    filled = 24 * (done + failures) // total
    failed = f", {failures} failed" if failures else ""
    left = progress.left
    time = "" if left is None else f", about {_duration(left)} left"
    return f"[{'#' * filled}{'.' * (24 - filled)}] {done} of {total} runs done{failed}{time}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
