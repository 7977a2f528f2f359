"""A mutant put into modules that are imported already: their functions are given its code.

What is run at import (block 0) has happened by then, so mutants of it need a process of their own.
"""

from __future__ import annotations

import ast
import functools
import gc
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mutation.sites import mutate


class Imported(NamedTuple):
    """What is imported at a time: functions by their file, and caches of ours."""

    functions: dict[str, list[FunctionType]]
    caches: list[functools._lru_cache_wrapper[Any]]

    @classmethod
    def now(cls) -> Imported:
        """Whatever the garbage collector knows of."""
        by_file: dict[str, list[FunctionType]] = defaultdict(list)
        caches = []
        for found in gc.get_objects():
            if isinstance(found, FunctionType):
                by_file[found.__code__.co_filename].append(found)
            elif isinstance(found, functools._lru_cache_wrapper) and _is_ours(found):
                caches.append(found)
        return cls(by_file, caches)

    def swap(self, path: Path, index: int) -> bool:
        """Give every function of a module the code that it has with a mutant; False if that cannot be."""
        source, name = path.read_text(), str(path.resolve())
        before, after = (
            _functions(compile(tree, name, "exec", dont_inherit=True))
            for tree in (ast.parse(source), mutate(source, index))
        )
        if {key: len(codes) for key, codes in before.items()} != {
            key: len(codes) for key, codes in after.items()
        }:
            return False
        swapped = 0
        for function in self.functions.get(name, ()):
            now = function.__code__
            key = now.co_qualname, now.co_firstlineno
            for old, new in zip(before.get(key, ()), after.get(key, ()), strict=True):
                if now == old != new:
                    try:
                        function.__code__ = new
                    except ValueError:  # it closes over other names
                        return False
                    swapped += 1
                    break
        return swapped > 0

    def forget_answers(self) -> None:
        """Empty the caches of functions: what they hold was computed without the mutant."""
        for cache in self.caches:
            cache.cache_clear()


def _is_ours(found: object) -> bool:
    return str(getattr(found, "__module__", "")).startswith("roamcast.")


def _functions(code: CodeType) -> dict[tuple[str, int], list[CodeType]]:
    """The code of each function in a module, by its name and first line."""
    found: dict[tuple[str, int], list[CodeType]] = defaultdict(list)
    todo = [code]
    while todo:
        each = todo.pop()
        found[each.co_qualname, each.co_firstlineno].append(each)
        todo += [const for const in each.co_consts if isinstance(const, CodeType)]
    return found
