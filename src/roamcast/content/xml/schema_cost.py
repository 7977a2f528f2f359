"""What a schema costs the libraries that read it, told before they are asked.

libxml2 makes an automaton of each content model, with every group written out where it is referred to, and a
list of all members of a union: what holds others multiplies. Where elements may be left out or repeated, it
compares each with all that may come next, by the cube of their number. Here they are only counted, each
group and each union once. xmlschema turns patterns into Python's, where a class such as `\\p{L}` is a list of
hundreds of ranges, made anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from roamcast.content.xml.errors import SchemaError

MOST = 1 << 27
"Comparisons that a schema may take: about half a second."
ELEMENT = 1 << 12
"What an element costs in comparisons; its memory is what counts, some 3 kB."
MEMBERS = 256
"Types of a union, with those of unions in it: each value of a document may be compared with all."
CLASSES = 64
"Classes of characters in all patterns of a schema, besides one for each 64 of its characters."
_XS = "{http://www.w3.org/2001/XMLSchema}"
_MADE_BY = {f"{_XS}{name}" for name in ("simpleType", "restriction", "union")}
_CLASS = re.compile(r"\\[icICpP]")


class ModelSize(NamedTuple):
    """The elements of a content model with its groups written out."""

    elements: int
    loose: int
    "Of these, such as may be left out or repeated."

    @property
    def cost(self) -> int:
        """Comparisons that their automaton takes."""
        return ELEMENT * self.elements + self.loose**3


def check_cost(schema: Any) -> None:
    """Refuse a schema whose content models take libxml2 too long, or too much memory."""
    counting = SchemaCost(schema)
    total = 0
    for model in counting.models():
        total += counting.size(model).cost
        if total > MOST:
            raise SchemaError(
                f"content models of too many elements: {MOST // ELEMENT} are the most of all types, "
                f"{round(MOST ** (1 / 3))} where they may be left out; groups that hold groups multiply"
            )


def check_document(document: Any, length: int) -> None:
    """Refuse a schema of so many characters, before it is read as one, for its unions or its patterns."""
    patterns = document.iter(f"{_XS}pattern")
    found, most = sum(len(_CLASS.findall(each.get("value", ""))) for each in patterns), CLASSES + length // 64
    if found > most:
        raise SchemaError(f"patterns with {found} classes of characters; {most} are the most")
    members = _Members({each.get("name"): each for each in document.iterchildren(f"{_XS}simpleType")})
    if any(members.count(each) > MEMBERS for each in document.iter(f"{_XS}union")):
        raise SchemaError(f"a union of more than {MEMBERS} types; unions that hold unions multiply")


class _Members:
    """How many types a value may be compared with, by the types' names."""

    def __init__(self, named: dict[str | None, Any]) -> None:
        self._named = named
        self._counts: dict[str, int] = {}

    def count(self, part: Any) -> int:
        """Of a simple type, or what it is made by."""
        names = f"{part.get('memberTypes', '')} {part.get('base', '')}".split()
        inner = [each for each in part.iterchildren() if each.tag in _MADE_BY]
        return max(sum(map(self._of_name, names)) + sum(map(self.count, inner)), 1)

    def _of_name(self, written: str) -> int:
        name = written.rpartition(":")[2]
        if name not in self._counts:
            self._counts[name] = 1  # of what refers to itself, which is no schema
            if name in self._named:
                self._counts[name] = self.count(self._named[name])
        return self._counts[name]


class SchemaCost:
    """The sizes of a schema's content models."""

    def __init__(self, schema: Any) -> None:
        self._maps = schema.maps
        self._sizes: dict[Any, ModelSize] = {}
        self._stands: dict[str, int] = {}
        "By name of an element, how many may stand for it, itself included."

    def models(self) -> Iterator[Any]:
        """The content of each complex type, named or not."""
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
        """The elements of a group."""
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
