"""Blocks of statements that are run together: what is probed, and by which tests are chosen.

Block 0 is what is run at import. A function's body is a block of its own, and so is each branch within it.
What comes after a `return` belongs to the block in which it stands: a test that ran a block may have seen it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Body: TypeAlias = list[ast.stmt]


def bodies(tree: ast.Module) -> Iterator[tuple[int, Body, ast.AST]]:
    """Every list of statements, outer ones first, with its block and what it belongs to."""
    last = 0

    def visit(body: Body, block: int, within: bool, owner: ast.AST) -> Iterator[tuple[int, Body, ast.AST]]:
        nonlocal last
        yield block, body, owner
        for statement in body:
            inside = within or isinstance(statement, FUNCTIONS)
            for inner in _inner(statement):
                if inside and not isinstance(statement, ast.ClassDef):
                    last += 1
                    yield from visit(inner, last, True, statement)
                else:
                    yield from visit(inner, block, inside, statement)

    yield from visit(tree.body, 0, False, tree)


def probe(tree: ast.Module) -> int:
    """Have each block note in `__hit__` that it was run; the number of blocks.

    That is memory which forks share, so that what a fork runs is noted, however it ends.
    """
    listed = list(bodies(tree))
    probed = set()
    for block, body, _ in listed:
        if block and block not in probed:
            probed.add(block)
            body.insert(after_docstring(body), ast.parse(f"__hit__[{block}] = 1").body[0])
    first = after_docstring(tree.body)
    while first < len(tree.body) and isinstance(tree.body[first], ast.ImportFrom):
        first += 1  # `from __future__` has to stay in front
    count = 1 + max(block for block, _, _ in listed)
    tree.body.insert(first, ast.parse(f"__hit__ = __import__('mmap').mmap(-1, {count})").body[0])
    ast.fix_missing_locations(tree)
    return count


def after_docstring(body: Body) -> int:
    """The place of the first statement that does something."""
    first = body[0] if body else None
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


def _inner(statement: ast.stmt) -> Iterator[Body]:
    for name in ("body", "orelse", "finalbody"):
        if body := getattr(statement, name, None):
            yield body
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
