"""Whether the validation page is of the current behaviour: one short run of our side for each of its rows.

A digest of the code would make the page older with each rename. What short runs come to changes with the
behaviour alone, takes seconds, and is part of the page.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from validation import ours
from validation.comparisons import FAMILIES, sections
from validation.kept import Job, Kept
from validation.ns2 import Outcome
from validation.plan import Plan

DIGEST = re.compile(r"`([a-z0-9]+)` ([0-9a-f]{8})\b")
DIGITS = 9
"Significant digits of a number that count: sums of floats differ in their last ones between processors."


def behaviour(families: Iterable[str] = FAMILIES) -> dict[str, str]:
    """Run one short run of our side for each row of each family; return a digest by family."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            kept = Kept(measures=False)  # without a folder, so that ns-2 need not be installed
            list(sections(Plan(False, Path(folder), kept, probe=True), [family]))
            found[family] = digest(job for job in kept.missing if job.side == ours.__name__)
    return found


def digest(jobs: Iterable[Job]) -> str:
    """Return a digest of what runs come to: eight hexadecimal digits."""
    total = sha256()
    for job in jobs:
        total.update(repr(_numbers(job.call(*job.arguments, **job.options))).encode())
    return total.hexdigest()[:8]


def _numbers(result: Any) -> list[str]:
    """The numbers of a run's result, without its CPU time and without the names of causes of drops."""
    if isinstance(result, Outcome):
        counts = (result.transmissions, result.routing, result.received, *sorted(result.drops.values()))
        result = (result.delivery, result.delay, result.median, result.p95, *counts)
    values = result if isinstance(result, list | tuple) else [result]
    return [f"{value:.{DIGITS}g}" for value in values]


def tell(digests: Mapping[str, str]) -> str:
    """Digests as the page has them."""
    return ", ".join(f"`{family}` {value}" for family, value in digests.items())


def outdated(page: str, current: Mapping[str, str]) -> str | None:
    """Return a message if a page was measured with another behaviour than `current`; None if it was not."""
    written = dict(DIGEST.findall(page))
    changed = [family for family, value in current.items() if written.get(family) != value]
    if not changed:
        return None
    return (
        f"docs/validation.md was measured with another behaviour of {', '.join(changed)}:"
        " run `python -m validation` (needs ns-2; kept runs of ns-2 are not done again) and commit the page"
    )
