"""The XML form of the events of a type: namespaces, open content and nillable elements."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}"


class DocumentForm(msgspec.Struct, frozen=True):
    """The elements and attributes of one type's documents, by their full path from the root.

    A path passes through repeated elements like through others: `info/area/areaDesc`. Names are written as
    `{namespace}name`; an unlisted element is in the root's `namespace`, an unlisted attribute in none.
    """

    namespace: str = ""
    names: Mapping[str, str] = {}
    "Elements and attributes in another namespace."
    open: frozenset[str] = frozenset()
    "Elements that may contain child elements that the type does not have."
    open_attributes: frozenset[str] = frozenset()
    "Elements that may have attributes that the type does not have."
    nillable: frozenset[str] = frozenset()
    "Elements that occur with `xsi:nil` if they have no value."
    lists: frozenset[str] = frozenset()
    "Elements and attributes whose text is a blank-separated list of values."

    defaults: Mapping[str, str] = {}
    "Default values of omitted attributes and of elements without text."

    @property
    def unqualified(self) -> bool:
        """Whether some elements have no namespace although the root has one."""
        return any(not name.startswith("{") for name in self.names.values())

    def tag(self, path: str, name: str) -> str:
        """Return the tag of the element at `path`, whose last component is `name`."""
        return self.names.get(path) or (f"{{{self.namespace}}}{name}" if self.namespace else name)

    def attribute(self, path: str, name: str) -> str:
        """Return the qualified name of the attribute at `path`."""
        return self.names.get(path) or name
