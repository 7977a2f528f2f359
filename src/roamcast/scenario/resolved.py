"""A scenario as plain data for its facts, and digests of the files that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roamcast.content.declare import write_type
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import Documents

Key = tuple[str | int, ...]
"The parts of a dotted key of a scenario file."


def resolve(scenario: Scenario) -> dict[str, Any]:
    """Return every key in SI units, with defaults and event types; `Scenario.model_validate` reads it again.

    Files are named without their folders, so that the same scenario gives the same data on every machine.
    """
    plain: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True)
    types = scenario.content.types
    plain["workload"]["types"] = {name: write_type(type) for name, type in types.items()}
    for key, path in _named_files(scenario):
        _put(plain, key, path.name)
    return plain


def digest_files(scenario: Scenario) -> dict[str, str]:
    """Return the SHA-256 of each file that the scenario names, by its key; a schema's covers its includes."""
    return {".".join(map(str, key)): _digest(scenario, key, path) for key, path in _named_files(scenario)}


def fingerprint(scenario: Scenario) -> dict[str, Any]:
    """Return all inputs of a run except protocol and seed as plain data, with digests for file names."""
    plain: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True)
    for key, path in _named_files(scenario):
        _put(plain, key, _digest(scenario, key, path))
    return plain


def _named_files(scenario: Scenario) -> Iterator[tuple[Key, Path]]:
    workload = scenario.workload
    if scenario.mobility is not None:
        yield ("mobility", "ns2"), scenario.mobility.ns2
    if workload.schedule is not None:
        yield ("workload", "schedule"), workload.schedule
    for number, path in enumerate(workload.schemas):
        yield ("workload", "schema", number), path
    for group, publishing in workload.publish.items():
        if isinstance(publishing.content, Documents):
            for number, path in enumerate(publishing.content.documents):
                yield ("workload", "publish", group, "content", "documents", number), path


def _put(plain: Any, key: Key, value: str) -> None:
    *outer, last = key
    for part in outer:
        plain = plain[part]
    plain[last] = value


def _digest(scenario: Scenario, key: Key, path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes())
    if key[:2] == ("workload", "schema"):
        for included in scenario.content.schemas[int(key[2])].files:
            digest.update(included.read_bytes())
    return digest.hexdigest()
