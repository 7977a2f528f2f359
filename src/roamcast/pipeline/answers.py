"""Whether an event in the facts answers a request in the facts.

Facts hold events as JSON, nested as their XML is, and filters as XPath; so the question needs no schema
and no code of the run that wrote them, only an XPath engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from lxml import etree


def matcher() -> Callable[[str, str], bool]:
    """A function that tells whether `wanted` (XPath) matches `event` (JSON); it remembers its answers.

    A filter that is no XPath, as other programs may write them, matches nothing.
    """

    @lru_cache(maxsize=1 << 16)
    def matches(wanted: str, event: str) -> bool:
        compiled = path(wanted)
        return compiled is not None and bool(compiled(document(event)))

    @lru_cache(maxsize=1 << 14)
    def path(wanted: str) -> etree.XPath | None:
        try:
            return etree.XPath(wanted)
        except etree.XPathError:
            return None

    document = lru_cache(maxsize=1 << 14)(to_xml)
    return matches


def to_xml(event: str) -> etree._ElementTree:
    """The event as XML: `{"CD": {"@id": 5, "year": 1959}}` is `<CD id="5"><year>1959</year></CD>`."""
    ((name, content),) = json.loads(event).items()
    root = etree.Element(name)
    _fill(root, content)
    return etree.ElementTree(root)


def _fill(element: etree._Element, content: Any) -> None:
    if not isinstance(content, dict):
        element.text = _text(content)
        return
    for name, value in content.items():
        if name.startswith("@"):
            element.set(name[1:], _text(value))
        elif isinstance(value, list):
            for one in value:
                _fill(etree.SubElement(element, name), one)
        else:
            _fill(etree.SubElement(element, name), value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
