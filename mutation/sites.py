"""All mutants of a module: single small faults.

Not mutated: annotations, decorators, docstrings, strings, `True` and `False` in the head of a class
(`frozen=True` declares something to a library), `strict=True` of `zip` (an assertion that never fails in
correct code), the order of arguments of `min` and `max`, and values with a docstring below them: such a
default is a documented choice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Body: TypeAlias = list[ast.stmt]
ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
BOUNDARY: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
UNSWAPPED = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "min", "max"}
"Calls whose arguments nobody could swap without an exception at the first test, or may stand in any order."
SKIPPED = {"annotation", "returns", "decorator_list", "body", "orelse", "finalbody", "handlers", "cases"}
"Fields of a statement that hold no expression of its own, or none that is run."


class Mutant(NamedTuple):
    """One small fault."""

    line: int
    statement: int
    "First line of the statement that it is in."
    operator: str
    index: int
    "Its place among the mutants of its module."


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, in order of the source."""
    found = enumerate(_changes(ast.parse(source)))
    return [Mutant(node.lineno, first, operator, index) for index, (node, first, operator, _) in found]


def show(source: str, index: int) -> tuple[str, str]:
    """What a mutant changes, and what it makes of it."""
    for number, (node, _, _, change) in enumerate(_changes(ast.parse(source))):
        if number == index:
            return ast.unparse(node), change()
    raise IndexError(index)


def mutate(source: str, index: int) -> ast.Module:
    """The module with one of its mutants."""
    tree = ast.parse(source)
    for number, (_, _, _, change) in enumerate(_changes(tree)):
        if number == index:
            change()
            return ast.fix_missing_locations(tree)
    raise IndexError(index)


class _Edit:
    """Sets a field of a node, or an item of a list, and shows what that makes of `node`."""

    def __init__(self, node: ast.AST, holder: Any, key: Any, value: Any) -> None:
        self.node, self.holder, self.key, self.value = node, holder, key, value

    def __call__(self) -> str:
        if isinstance(self.holder, list):
            self.holder[self.key] = self.value
        else:
            setattr(self.holder, self.key, self.value)
        gone = isinstance(self.value, ast.Pass)
        return "pass" if gone else ast.unparse(ast.fix_missing_locations(self.node))


_Found: TypeAlias = tuple[Any, int, str, _Edit]


def _changes(tree: ast.Module) -> Iterator[_Found]:
    for body, owner, runs in list(_bodies(tree.body, tree, False)):
        declares = not runs or isinstance(owner, ast.ClassDef)
        branch = runs and not isinstance(owner, FUNCTIONS)
        for place, statement in enumerate(body):
            if _is_typing(statement) or (declares and _is_documented(body, place)):
                continue
            for edit in _removal(body, place, branch):
                yield statement, statement.lineno, "removed statement", edit
            for node, operator, edit in _in_statement(statement):
                yield node, statement.lineno, operator, edit


def _bodies(body: Body, owner: ast.AST, runs: bool) -> Iterator[tuple[Body, ast.AST, bool]]:
    """Every list of statements, outer ones first, with its owner and whether it is inside a function."""
    yield body, owner, runs
    for statement in body:
        inside = runs or isinstance(statement, FUNCTIONS)
        parts = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
        inner = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
        for each in (*inner, *(part.body for part in parts)):
            if each:
                yield from _bodies(each, statement, inside)


def _is_typing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and getattr(statement.test, "id", "") == "TYPE_CHECKING"


def _is_documented(body: Body, place: int) -> bool:
    below = body[place + 1] if place + 1 < len(body) else None
    assigned = isinstance(body[place], ast.Assign | ast.AnnAssign)
    return assigned and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)


def _removal(body: Body, place: int, branch: bool) -> Iterator[_Edit]:
    statement = body[place]
    if isinstance(statement, ast.Expr):
        gone = isinstance(statement.value, ast.Call)
    elif isinstance(statement, ast.Assign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        gone = any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
        gone = gone or isinstance(statement, ast.AugAssign)
    elif isinstance(statement, ast.Return):
        gone = branch  # an early one: without it the function goes on
    else:
        gone = isinstance(statement, ast.Continue | ast.Break | ast.Raise | ast.Delete)
    if gone:
        yield _Edit(statement, body, place, ast.Pass())


def _in_statement(statement: ast.stmt) -> Iterator[tuple[ast.expr, str, _Edit]]:
    if isinstance(statement, ast.AugAssign) and type(statement.op) in ARITHMETIC:
        swapped = ARITHMETIC[type(statement.op)]()
        yield statement, "arithmetic", _Edit(statement, statement, "op", swapped)  # type: ignore[misc]
    for holder, key, node in _fields(statement):
        declared = isinstance(statement, ast.ClassDef) and isinstance(node, ast.Constant)
        if declared and isinstance(node.value, bool):
            continue
        yield from _in_expression(node, holder, key)


def _fields(node: ast.AST) -> Iterator[tuple[Any, Any, Any]]:
    """The expressions directly below a node, each with what holds it."""
    for name, value in ast.iter_fields(node):
        if name in SKIPPED and not isinstance(node, ast.expr):
            continue
        if isinstance(value, ast.expr):
            yield node, name, value
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield value, place, item
                elif isinstance(item, ast.keyword) and item.arg == "strict":
                    continue
                elif isinstance(item, ast.AST) and not isinstance(item, ast.stmt):
                    yield from _fields(item)
        elif isinstance(value, ast.AST) and not isinstance(value, ast.stmt):
            yield from _fields(value)


def _in_expression(node: Any, holder: Any, key: Any) -> Iterator[tuple[ast.expr, str, _Edit]]:
    for operator, edit in _edits(node, holder, key):
        yield node, operator, edit
    for inner_holder, inner_key, inner in _fields(node):
        yield from _in_expression(inner, inner_holder, inner_key)


def _edits(node: Any, holder: Any, key: Any) -> Iterator[tuple[str, _Edit]]:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        if not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
            yield "arithmetic", _Edit(node, node, "op", ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for place, comparison in enumerate(node.ops):
            if type(comparison) in BOUNDARY:
                yield "boundary", _Edit(node, node.ops, place, BOUNDARY[type(comparison)]())
            yield "comparison", _Edit(node, node.ops, place, OPPOSITE[type(comparison)]())
    elif isinstance(node, ast.BoolOp):
        yield "boolean", _Edit(node, node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            yield "boolean", _Edit(node, node, "operand", ast.UnaryOp(ast.Not(), node.operand))
        elif isinstance(node.op, ast.USub):
            yield "arithmetic", _Edit(node, node, "op", ast.UAdd())
    elif isinstance(node, ast.IfExp):
        yield "boolean", _Edit(node, node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, _Edit]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", _Edit(node, node, "value", not value)
    elif isinstance(value, int):
        yield "off by one", _Edit(node, node, "value", value + 1)
        if value > 0:
            yield "off by one", _Edit(node, node, "value", value - 1)
    elif isinstance(value, float):
        yield "constant", _Edit(node, node, "value", value * 1.01 if value else 1.0)


def _other_calls(node: ast.Call) -> Iterator[tuple[str, _Edit]]:
    name = node.func
    if isinstance(name, ast.Name) and name.id in TWINS:
        yield "swapped function", _Edit(node, name, "id", TWINS[name.id])
    elif isinstance(name, ast.Attribute) and name.attr in TWINS:
        yield "swapped function", _Edit(node, name, "attr", TWINS[name.attr])
    if any(isinstance(each, ast.Starred) for each in node.args) or getattr(name, "id", "") in UNSWAPPED:
        return
    for place in range(len(node.args) - 1):
        first, second = node.args[place : place + 2]
        if ast.dump(first) != ast.dump(second):
            swapped = [*node.args[:place], second, first, *node.args[place + 2 :]]
            yield "swapped arguments", _Edit(node, node, "args", swapped)
