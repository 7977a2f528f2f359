"""Digests of code, and the check that a Spark task runs the code of its driver."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import roamcast

OTHER_CODE = r"an executor on \S+ (?:has|runs) .*; install the same wheel on every worker"
"Pattern of the error of a task whose executor has no Roamcast or another version than the driver."


def digest_files(files: Mapping[str, Path]) -> str:
    """Return the digest of the names and contents of files [8 hex digits]."""
    digest = hashlib.blake2b(digest_size=4)
    for name in sorted(files):
        digest.update(name.encode())
        digest.update(files[name].read_bytes())
    return digest.hexdigest()


def find_kernel() -> dict[str, Path]:
    """Return the file of the compiled kernel by name; an editable install keeps it outside the sources."""
    found = find_spec("roamcast._kernel")
    return {"_kernel": Path(found.origin)} if found and found.origin else {}


@cache
def package_version() -> str:
    """Return the package's version with a digest of its code, for example `0.1.0+1f2e3d4c`."""
    root = Path(roamcast.__file__).parent
    files = {str(file.relative_to(root)): file for file in root.rglob("*.py")}
    return f"{roamcast.__version__}+{digest_files(files | find_kernel())}"


def make_check(ours: str) -> Callable[[], None]:
    """Return a function that raises RuntimeError unless the executor's package version is `ours`.

    The function is pickled by value, because an executor may have no Roamcast.
    """

    def check() -> None:
        import socket

        found = ""
        try:
            from roamcast.fingerprint import package_version

            if package_version() != ours:
                found = f"runs Roamcast {package_version()}, this is {ours}"
        except ImportError:
            found = "has no Roamcast, or an older one"
        if found:
            raise RuntimeError(
                f"an executor on {socket.gethostname()} {found}; install the same wheel on every worker"
            )

    return check


def checked(work: Callable[[Any], Iterable[Any]]) -> Callable[[Any], Iterator[Any]]:
    """Return `work` for mapInArrow, with the check of the executor's code before each task.

    `work` is unpickled after the check, so that an executor without Roamcast gives a clear error.
    """
    from pyspark import cloudpickle

    check, pickled = make_check(package_version()), cloudpickle.dumps(work)

    def run(batches: Any) -> Iterator[Any]:
        import pickle

        check()
        yield from pickle.loads(pickled)(batches)

    return run
