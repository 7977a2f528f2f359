"""Upper bounds of the cost of a schema in the libraries that read it, checked beforehand.

libxml2 builds an automaton of each content model, with every group expanded at each reference, and a list of
all members of a union, so nesting multiplies. For optional or repeated elements it compares each with all
that may follow, which is cubic in their number. This module only counts them, each group and each union once.
xmlschema converts patterns to Python's, in which a class such as `\\p{L}` becomes a list of hundreds of
ranges, built again each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from roamcast.content.xml.errors import SchemaError

MOST = 1 << 27
"Maximum number of comparisons that a schema may cause: about half a second."
ELEMENT = 1 << 12
"Cost of an element in comparisons; it stands for about 3 kB of memory."
MEMBERS = 256
"Maximum number of member types of a union, including nested unions; a value may be compared with all."
CLASSES = 64
"Maximum number of character classes in all patterns, in addition to one per 64 characters of the schema."
_XS = "{http://www.w3.org/2001/XMLSchema}"
_MADE_BY = {f"{_XS}{name}" for name in ("simpleType", "restriction", "union")}
_CLASS = re.compile(r"\\[icICpP]")


class ModelSize(NamedTuple):
    """The number of elements of a content model with its groups expanded."""

    elements: int
    loose: int
    "Number of elements that may be omitted or repeated."

    @property
    def cost(self) -> int:
        """The number of comparisons for the model's automaton."""
        return ELEMENT * self.elements + self.loose**3


def check_cost(schema: Any) -> None:
    """Raise `SchemaError` if the content models would take libxml2 too much time or memory."""
    counting = SchemaCost(schema)
    total = 0
    for model in counting.models():
        total += counting.size(model).cost
        if total > MOST:
            raise SchemaError(
                f"the content models have too many elements: the maximum is {MOST // ELEMENT} in all types,  "
                f"{round(MOST ** (1 / 3))} if they are optional; nested groups multiply"
            )


def check_document(document: Any, length: int) -> None:
    """Raise `SchemaError` for too many union members or character classes, before the schema is parsed."""
    patterns = document.iter(f"{_XS}pattern")
    found, most = sum(len(_CLASS.findall(each.get("value", ""))) for each in patterns), CLASSES + length // 64
    if found > most:
        raise SchemaError(f"the patterns have {found} character classes; the maximum is {most}")
    members = _Members({each.get("name"): each for each in document.iterchildren(f"{_XS}simpleType")})
    if any(members.count(each) > MEMBERS for each in document.iter(f"{_XS}union")):
        raise SchemaError(f"a union has more than {MEMBERS} types; nested unions multiply")


class _Members:
    """Counts the types that a value may be compared with, by the types' names."""

    def __init__(self, named: dict[str | None, Any]) -> None:
        self._named = named
        self._counts: dict[str, int] = {}

    def count(self, part: Any) -> int:
        """Return the number of member types of a simple type or of its definition."""
        names = f"{part.get('memberTypes', '')} {part.get('base', '')}".split()
        inner = [each for each in part.iterchildren() if each.tag in _MADE_BY]
        return max(sum(map(self._of_name, names)) + sum(map(self.count, inner)), 1)

    def _of_name(self, written: str) -> int:
        name = written.rpartition(":")[2]
        if name not in self._counts:
            self._counts[name] = 1  # for a type that refers to itself, which is invalid
            if name in self._named:
                self._counts[name] = self.count(self._named[name])
        return self._counts[name]


class SchemaCost:
    """Computes the sizes of a schema's content models."""

    def __init__(self, schema: Any) -> None:
        self._maps = schema.maps
        self._sizes: dict[Any, ModelSize] = {}
        self._stands: dict[str, int] = {}
        "By element name: the size of its substitution group, including itself."

    def models(self) -> Iterator[Any]:
        """Yield the content model of each complex type, named or anonymous."""
        found: set[Any] = set()
        waiting = [*self._maps.types.values(), *self._maps.groups.values()]
        waiting += (element.type for element in self._maps.elements.values())
        while waiting:
            part = waiting.pop()
            if part is None or part in found:
                continue
            found.add(part)
            if hasattr(part, "model"):
                waiting += (each if hasattr(each, "model") else getattr(each, "type", None) for each in part)
            elif part.is_complex() and hasattr(part.content, "model"):
                waiting.append(part.content)
                yield part.content

    def size(self, group: Any) -> ModelSize:
        """Return the number of elements of a group, expanded."""
        known = self._sizes.get(group)
        if known is None:
            elements = loose = 0
            for particle in group:
                inner = (
                    self.size(particle)
                    if hasattr(particle, "model")
                    else ModelSize(self._standing(particle), 0)
                )
                elements += inner.elements
                loose += inner.elements if _is_loose(particle) else inner.loose
            if _is_loose(group) or group.model == "choice":
                loose = elements
            known = self._sizes[group] = ModelSize(elements, loose)
        return known

    def _standing(self, particle: Any) -> int:
        name = particle.name
        if name is None:  # a wildcard
            return 1
        if name not in self._stands:
            self._stands[name] = 1 + sum(1 for _ in particle.iter_substitutes())
        return self._stands[name]


def _is_loose(particle: Any) -> bool:
    return (particle.min_occurs, particle.max_occurs) != (1, 1)
