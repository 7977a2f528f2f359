"""Runs that are not done twice: each is kept under what decides its result, so that one can go on later."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from validation import ns2, ours
from validation.ns2 import Ground, Outcome

ROOT = Path(__file__).parent.parent
ROOMS = (
    *("content", "facts", "metrics", "scenario", "sim", "wire", "why"),
    *("routing/state", "routing/unicast", "routing/odmrp"),
)
"What a run of ours goes through, beside the kernel and the modules of `routing` itself."


class NotMeasuredError(Exception):
    """What is asked for has not been run with this code, and is not to be run now."""


@cache
def our_digest() -> str:
    """The fingerprint of the code that decides what our runs come to."""
    source = ROOT / "src" / "roamcast"
    files = [*(ROOT / "kernel").rglob("*.h"), *(ROOT / "kernel").rglob("*.cpp"), Path(ours.__file__)]
    files += [*(source / "routing").glob("*.py"), *source.glob("*.py")]
    for room in ROOMS:
        files += (source / room).rglob("*.py")
    return _digest(files)


@cache
def their_digest() -> str:
    """The fingerprint of what decides ns-2's runs: its version, our Tcl, and how its traces are read."""
    return _digest([*ns2.TCL.glob("*.tcl"), Path(ns2.__file__)], ns2.version())


def _digest(files: list[Path], more: str = "") -> str:
    total = sha256(more.encode())
    for file in sorted(files):
        total.update(str(file.relative_to(ROOT)).encode() + sha256(file.read_bytes()).digest())
    return total.hexdigest()[:12]


@dataclass
class Kept:
    """A folder of runs; without one, nothing is kept."""

    folder: Path | None = None
    measures: bool = True
    "Whether what is missing is run."
    cpu: dict[str, float] = field(default_factory=dict)
    "Seconds that the runs asked for have taken, by side: the module `ours` or `ns2`."

    def run(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a function of `ns2`, or of ours, comes to: as it was kept, or from a run now."""
        while isinstance(call, partial):
            call, arguments, options = call.func, (*call.args, *arguments), {**call.keywords, **options}
        side = ns2.__name__ if call.__module__ == ns2.__name__ else ours.__name__
        file = None if self.folder is None else self.folder / _name(call, arguments, options)
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            value = kept["value"]
            self.cpu[side] = self.cpu.get(side, 0.0) + kept["cpu"]
            return Outcome(**value) if isinstance(value, dict) else value
        if not self.measures:
            raise NotMeasuredError
        began = _cpu()
        value = call(*arguments, **options)
        cpu = _cpu() - began
        self.cpu[side] = self.cpu.get(side, 0.0) + cpu
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            told = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
            draft = file.with_suffix(".draft")
            draft.write_text(json.dumps({"cpu": cpu, "value": told}))
            draft.rename(file)
        return value


def _cpu() -> float:
    """Seconds that this process and those that it has waited for have computed."""
    return sum(os.times()[:4])


def _name(call: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    """The file of a run: a digest of the code, and of all that the run is told."""
    code = their_digest() if call.__module__ == ns2.__name__ else our_digest()
    told = repr([_told(one) for one in arguments]) + repr(sorted(_items(options)))
    key = sha256(f"{call.__module__}.{call.__qualname__}{told}".encode()).hexdigest()[:24]
    return f"{call.__module__.rpartition('.')[2]}-{code}/{key}.json"


def _items(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        yield name, sorted(value.items()) if isinstance(value, Mapping) else value


def _told(argument: Any) -> Any:
    """An argument by what it says: of a movement not where its file is, but what is in it."""
    if isinstance(argument, Ground):
        return replace(argument, movement=Path(sha256(argument.movement.read_bytes()).hexdigest()))
    return argument
