"""Several mutants at a time: each worker takes the next that nobody has taken."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutation.draw import Drawn
from mutation.ready import Place, Ready
from mutation.trace import Trace
from mutation.trial import Outcome, try_out


def outcomes_of(
    todo: list[Drawn], trace: Trace, folder: Path, most: float, processes: int
) -> Iterator[Outcome]:
    """What becomes of each mutant, in the order in which that is known."""
    fork = multiprocessing.get_context("fork")
    taken, told = fork.Value("i", 0), fork.SimpleQueue()
    workers: list[Any] = []

    def work(place: Place) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the outcomes ends this process
        try:
            while True:
                with taken.get_lock():
                    number, taken.value = taken.value, taken.value + 1
                if number >= len(todo):
                    return
                told.put(try_out(todo[number], trace, place, most))
        except BaseException:
            told.put(traceback.format_exc())

    with Ready(sorted(trace.files), folder, processes) as ready:
        try:
            for place in ready.places:
                workers.append(fork.Process(target=work, args=(place,), daemon=True))
                workers[-1].start()
            for _ in todo:
                if isinstance(found := told.get(), str):
                    raise RuntimeError(f"a worker failed:\n{found}")
                yield found
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
