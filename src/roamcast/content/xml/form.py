"""How the events of a type look as XML, beyond what the type says: namespaces, open content, nils."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}"


class DocumentForm(msgspec.Struct, frozen=True):
    """The elements and attributes of one type's documents, by their whole path from the root.

    A path goes through repeated elements as through others: `info/area/areaDesc`. Names are written as
    `{namespace}name`; what is not listed is in the `namespace` of the root, and attributes in none.
    """

    namespace: str = ""
    names: Mapping[str, str] = {}
    "Elements and attributes of another namespace."
    open: frozenset[str] = frozenset()
    "Elements in which others may stand than the type knows."
    open_attributes: frozenset[str] = frozenset()
    "Elements that may have other attributes than the type knows."
    nillable: frozenset[str] = frozenset()
    "Elements that must stand even when they have no value, and say so."
    lists: frozenset[str] = frozenset()
    "Elements and attributes whose text is a list of values with blanks between them."

    defaults: Mapping[str, str] = {}
    "What an attribute that is left out, or an element without text, says all the same."

    @property
    def unqualified(self) -> bool:
        """Whether some elements are in no namespace, though the root is in one."""
        return any(not name.startswith("{") for name in self.names.values())

    def tag(self, path: str, name: str) -> str:
        """The tag of the element at `path`, whose last step is `name`."""
        return self.names.get(path) or (f"{{{self.namespace}}}{name}" if self.namespace else name)

    def attribute(self, path: str, name: str) -> str:
        """The name of the attribute at `path`."""
        return self.names.get(path) or name
