"""Blocks that no fast test runs: whatever is changed there survives."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mutation.blocks import after_docstring, bodies
from mutation.sites import mutants
from mutation.trace import Trace, module_of, sources


def unrun(trace: Trace, within: str = "") -> Iterator[str]:
    """A line for each such block of files whose path has `within` in it: where, what, how many mutants."""
    ran: dict[str, set[int]] = defaultdict(set)
    for known in trace.files.values():
        for row in known["tests"].values():
            for module, blocks in row["hits"].items():
                if known["sources"].get(module) == trace.digests[module]:
                    ran[module].update(blocks)
    for path in sources():
        if within in str(path):
            yield from _of_file(path, ran[module_of(path)])


def _of_file(path: Path, ran: set[int]) -> Iterator[str]:
    source = path.read_text()
    counts: dict[int, int] = defaultdict(int)
    for mutant in mutants(source):
        counts[mutant.block] += 1
    lines = source.splitlines()
    seen = {0}
    for block, body, _ in bodies(ast.parse(source)):
        if block not in ran and block not in seen and counts[block]:
            first = body[min(after_docstring(body), len(body) - 1)].lineno
            yield f"{path}:{first} [{counts[block]}] {lines[first - 1].strip()}"
        seen.add(block)
