"""Compute a digest of the definition of each metric, which changes only with the code that computes it.

The digest covers a metric's function and everything that it references in this package: functions, classes,
properties of `MetricInput` and constants that the user may set. Comments, docstrings and types do not count.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import Any

from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.metric_input import READS, MetricInput

_ROOMS = ("roamcast.metrics", "roamcast.facts")

_APART: tuple[Any, ...] = (MetricInput, READS)
"Objects that every metric references; only the attributes and columns that a metric uses count."


def digest_definitions(constants: MetricConstants) -> dict[str, str]:
    """Return the digest of every metric with the given `constants`, by name."""
    values = {name: repr(getattr(constants, name)) for name in type(constants).model_fields}
    found = {}
    for name, metric in METRICS.items():
        code, used = definition(metric.compute)
        parts = [code, *(f"{key}={values[key]}" for key in sorted(used & values.keys()))]
        found[name] = hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
    return found


@cache
def definition(compute: Callable[[MetricInput], Any]) -> tuple[str, frozenset[str]]:
    """Return the code on which a metric's function depends, and the attributes that this code uses."""
    sources: dict[str, str] = {}
    named: set[str] = set()
    todo: list[Any] = [compute]
    while todo:
        found = todo.pop()
        key = f"{found.__module__}.{found.__qualname__}"
        if key in sources:
            continue
        sources[key], names, attributes = _parse(found)
        named |= attributes
        for name, value in _look_up(found, names | attributes):
            if any(value is each for each in _APART):
                continue
            if inspect.isfunction(value) or inspect.isclass(value):
                if value.__module__.startswith(_ROOMS):
                    todo.append(value)
            elif not isinstance(value, ModuleType) and not callable(value):
                sources[f"{key}:{name}"] = _constant(value)
    return "\n".join(f"{key}: {sources[key]}" for key in sorted(sources)), frozenset(named)


def _look_up(found: Any, names: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield the objects that the names in a function or class refer to, with those of `MetricInput`."""
    around = vars(inspect.getmodule(found))
    for name in sorted(names):
        part = inspect.getattr_static(MetricInput, name, None)
        if isinstance(part, cached_property):
            yield name, part.func
        elif isinstance(part, FunctionType):
            yield name, part
        if name in around:
            yield name, around[name]


@cache
def _parse(found: Any) -> tuple[str, frozenset[str], frozenset[str]]:
    """Return the code without docstrings and types, the names in it, and its attributes."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(found)))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            statements = [
                each
                for each in body
                if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
            node.body = statements or [ast.Pass()]  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = []
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    nodes = list(ast.walk(tree))
    names = frozenset(node.id for node in nodes if isinstance(node, ast.Name))
    return ast.dump(tree), names, frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))


def _constant(value: Any) -> str:
    return repr(sorted(value)) if isinstance(value, frozenset | set) else repr(value)
