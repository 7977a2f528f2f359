"""Runs that are not done twice: each is kept under what decides its result, so that one can go on later."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from validation import bianchi, link_calls, ns2, ours
from validation.ns2 import Ground, Outcome

ROOT = Path(__file__).parent.parent
PACKAGES = (
    *("content", "facts", "metrics", "scenario", "sim", "wire", "why"),
    *("routing/state", "routing/unicast", "routing/odmrp"),
)
"What a run of ours goes through, beside the kernel and the modules of `routing` itself."


class NotMeasuredError(Exception):
    """What is asked for has not been run with this code, and is not to be run now."""


class Job(NamedTuple):
    """A run that is still to be done: a function and its arguments."""

    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def side(self) -> str:
        """The module that it counts for: ns-2, the analysis, or our simulator."""
        module = self.call.__module__
        return module if module in (ns2.__name__, bianchi.__name__) else ours.__name__


@cache
def our_digest() -> str:
    """The fingerprint of the code that decides what our runs come to."""
    source = ROOT / "src" / "roamcast"
    files = [
        *(ROOT / "kernel").rglob("*.h"),
        *(ROOT / "kernel").rglob("*.cpp"),
        Path(ours.__file__),
        Path(link_calls.__file__),
    ]
    files += [*(source / "routing").glob("*.py"), *source.glob("*.py")]
    for package in PACKAGES:
        files += (source / package).rglob("*.py")
    return _digest(files)


@cache
def their_digest() -> str:
    """The fingerprint of what decides ns-2's runs: its version, our Tcl, and how its traces are read."""
    return _digest([*ns2.TCL.glob("*.tcl"), Path(ns2.__file__)], ns2.version())


@cache
def model_digest() -> str:
    """The fingerprint of the analysis of saturated cells."""
    return _digest([Path(bianchi.__file__)])


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
    missing: list[Job] = field(default_factory=list)
    "Runs that were asked for and neither kept nor done."
    runs: dict[str, int] = field(default_factory=dict)
    "How many of the runs asked for there were, by side."
    cpu: dict[str, float] = field(default_factory=dict)
    "Seconds that the runs asked for have taken, by side: the module `ours` or `ns2`."

    def run(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a function of `ns2`, or of ours, comes to: as it was kept, or from a run now."""
        while isinstance(call, partial):
            call, arguments, options = call.func, (*call.args, *arguments), {**call.keywords, **options}
        job = Job(call, arguments, options)
        side = job.side
        file = None if self.folder is None else self.folder / _name(call, arguments, options)
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            value = kept["value"]
            self.cpu[side] = self.cpu.get(side, 0.0) + kept["cpu"]
            self.runs[side] = self.runs.get(side, 0) + 1
            return Outcome(**value) if isinstance(value, dict) else value
        if not self.measures:
            self.missing.append(job)
            raise NotMeasuredError
        began = _cpu()
        value = call(*arguments, **options)
        cpu = _cpu() - began
        self.cpu[side] = self.cpu.get(side, 0.0) + cpu
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            stored = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
            draft = file.with_suffix(".draft")
            draft.write_text(json.dumps({"cpu": cpu, "value": stored}))
            draft.rename(file)
        return value

    def both(self, us: Callable[..., Any], them: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Our result and theirs with the same arguments; both sides are looked at even if one is missing."""
        found = []
        for side in (us, them):
            with suppress(NotMeasuredError):
                found.append(self.run(side, *arguments, **options))
        if len(found) < 2:
            raise NotMeasuredError
        return tuple(found)


def _cpu() -> float:
    """Seconds that this process and those that it has waited for have computed."""
    return sum(os.times()[:4])


def _name(call: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    """The file of a run: a digest of the code, and of the run's arguments."""
    if call.__module__ == bianchi.__name__:
        code = model_digest()
    else:
        code = their_digest() if call.__module__ == ns2.__name__ else our_digest()
    stored = repr([_identity(one) for one in arguments]) + repr(sorted(_items(options)))
    key = sha256(f"{call.__module__}.{call.__qualname__}{stored}".encode()).hexdigest()[:24]
    return f"{call.__module__.rpartition('.')[2]}-{code}/{key}.json"


def _items(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        yield name, sorted(value.items()) if isinstance(value, Mapping) else value


def _identity(argument: Any) -> Any:
    """An argument by what it says: of a movement not where its file is, but what is in it."""
    if isinstance(argument, Ground):
        return replace(argument, movement=Path(sha256(argument.movement.read_bytes()).hexdigest()))
    return argument
