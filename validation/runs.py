"""Doing the runs that are missing: several at a time, one progress line, kept one by one."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from validation.kept import Job, Kept

BETWEEN_LINES = 10.0
"Seconds between progress lines where there is no terminal."


def do_missing(jobs: Sequence[Job], folder: Path, processes: int) -> None:
    """Do runs and keep each in `folder`; after an interrupt those under way are finished and kept, too."""
    show = progress(len(jobs))
    with ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_the_parent) as pool:
        try:
            futures = [pool.submit(_keep, folder, job) for job in jobs]
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                show(done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ns-2's processes inherit it


def _keep(folder: Path, job: Job) -> None:
    Kept(folder).run(job.call, *job.arguments, **job.options)


def progress(total: int) -> Callable[[int], None]:
    """Return a function that shows how many runs are done: a line redrawn, or one every ten seconds."""
    terminal, began, last = sys.stderr.isatty(), time.monotonic(), 0.0

    def show(done: int) -> None:
        nonlocal last
        seconds = time.monotonic() - began
        line = f"{done} of {total} runs, {seconds:.0f} s, about {seconds / done * (total - done):.0f} s left"
        if terminal:
            print(f"\r{line}\033[K", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif seconds - last >= BETWEEN_LINES or done == total:
            last = seconds
            print(line, file=sys.stderr, flush=True)

    return show
