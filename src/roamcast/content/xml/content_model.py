"""The content models of XML Schema: the child elements of an element and their multiplicity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from roamcast.content.xml.errors import SchemaError

MAX_PARTICLES = 4096
"Maximum number of elements and groups of one content model; nested groups multiply."


class Particle(msgspec.Struct):
    """An element in a content model."""

    element: Any
    optional: bool
    "Whether the element may be missing."
    repeated: bool
    "Whether the element may occur more than once."


class ContentModel:
    """The children of a complex element, in the order of the schema, each name once."""

    def __init__(self, group: Any, where: str) -> None:
        self.children: dict[str, Particle] = {}
        "By local name."
        self.open = False
        "Whether other elements may occur among them."
        self._where = where
        self._visited = 0
        if getattr(group, "model", None) is not None:  # simple or empty content has no model
            for child in self._walk(group, False, False):
                self._add(child)

    def _walk(self, group: Any, optional: bool, repeated: bool) -> Iterator[Particle]:
        if group.max_occurs == 0:
            return
        optional = optional or group.min_occurs == 0 or (group.model == "choice" and len(group) > 1)
        repeated = repeated or group.max_occurs != 1
        for particle in group:
            self._visited += 1
            if self._visited > MAX_PARTICLES:
                raise SchemaError(f"{self._where}: the content model has more than {MAX_PARTICLES} parts")
            if getattr(particle, "model", None) is not None:
                yield from self._walk(particle, optional, repeated)
            elif particle.max_occurs == 0:
                continue
            elif particle.name is None:
                self.open = True
            else:
                yield from _substitutes(
                    particle, optional or particle.min_occurs == 0, repeated or particle.max_occurs != 1
                )

    def _add(self, child: Particle) -> None:
        name = child.element.local_name
        known = self.children.get(name)
        if known is None:
            self.children[name] = child
            return
        if known.element.name != child.element.name:
            raise SchemaError(f"{self._where}/{name}: elements of two namespaces have this name")
        if known.element.type is not child.element.type:
            raise SchemaError(f"{self._where}/{name}: two elements of this name have different types")
        known.repeated = True
        known.optional = known.optional and child.optional


def _substitutes(element: Any, optional: bool, repeated: bool) -> Iterator[Particle]:
    """Yield an element and the members of its substitution group, without abstract ones."""
    others = sorted(element.iter_substitutes(), key=lambda each: str(each.name))
    head = element.ref if element.ref is not None else element
    stand = [
        each for each in (element, *others) if not each.abstract and not (each is element and head.abstract)
    ]
    for each in stand:
        yield Particle(each, optional or len(stand) > 1, repeated)
