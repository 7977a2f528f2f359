"""Events to and from XML, written for documents that mean harm.

A document is bounded before it is parsed, has no document type (so no entities, bombs or external
files), is read as it is parsed and given up at the first thing that is not in its event type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, pick_type
from roamcast.content.schema import EventType

MAX_XML = 1 << 20
"Bytes of an event's document; a larger one is refused unread."
MAX_DEPTH = 250

_INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}"
_DECLARED = re.compile(r"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]{1,40})["']""")


class XmlError(ContentError):
    """A document that is not an event, or not fit to be read."""


def write_xml(event: Event, namespace: str = "") -> bytes:
    """The event as a document, in UTF-8 and without declaration."""
    from lxml import etree

    prefix = f"{{{namespace}}}" if namespace else ""
    names: Any = {None: namespace} if namespace else None
    root = etree.Element(prefix + event.type.name, nsmap=names)
    elements: dict[str, Any] = {"": root}

    def element(path: str) -> Any:
        if path not in elements:
            outer, _, name = path.rpartition("/")
            elements[path] = etree.SubElement(element(outer), prefix + name)
        return elements[path]

    always = set(event.type.always)
    for field, stored in zip(event.type.fields, event.values, strict=True):
        outer, _, name = field.path.rpartition("/")
        for container in [a for a in always if field.path.startswith(f"{a}/")]:
            element(container)
            always.discard(container)
        if stored is None:
            continue
        text = field.kind.write(stored)
        if name.startswith("@"):
            element(outer).set(name[1:], text)
        else:
            element(field.path).text = text
    return etree.tostring(root, encoding="utf-8")


def read_xml(data: bytes | str, types: EventType | Mapping[str, EventType], namespace: str = "") -> Event:
    """The event that a document holds; raises `XmlError` for anything else, quickly."""
    text = check_document(data)
    target = _Target(types, f"{{{namespace}}}" if namespace else "")
    feed(text, target)
    return target.event()


def read_file(path: Path) -> bytes:
    """The bytes of a document on disk, no more of them than could be accepted."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_XML + 1)
    except OSError as error:
        raise XmlError(f"{path}: cannot be read: {error.strerror}") from None


def check_document(data: bytes | str) -> str:
    """The document's text, if it is small enough and written in UTF-8 or, with its mark, UTF-16."""
    if len(data) > MAX_XML:
        raise XmlError(f"the document is longer than {MAX_XML} bytes")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise XmlError(
            f"the document is not in UTF-8: byte {error.start + 1} is {data[error.start]:#04x}"
        ) from None
    declared = _DECLARED.match(text)
    if declared and declared[1].lower() not in ("utf-8", "utf8", "us-ascii", "ascii", "utf-16"):
        raise XmlError(f"the document says that it is in {declared[1]}; only UTF-8 is read")
    return text


def undeclared(text: str) -> bytes:
    """The document in UTF-8 without its declaration, which names the encoding of other bytes."""
    return re.sub(r"\A<\?xml\s[^>]{0,200}\?>", "", text).encode("utf-8", "surrogatepass")


def feed(text: str, target: Any) -> None:
    """Parse `text` into `target`, which may stop at any point by an `XmlError`."""
    from lxml import etree

    # Entities are "resolved" so that &amp; is text; others cannot be declared where no DOCTYPE is read.
    safe: dict[str, Any] = {"resolve_entities": "internal", "no_network": True, "load_dtd": False}
    parser = etree.XMLParser(target=target, huge_tree=False, encoding="utf-8", **safe)
    data = undeclared(text)
    try:
        for start in range(0, len(data), 1 << 14):
            parser.feed(data[start : start + (1 << 14)])
        parser.close()
    except etree.XMLSyntaxError as error:
        raise XmlError(f"not XML: {str(error)[:200]}") from None


class _Target:
    """What the parser calls: builds the values of one event, and nothing else."""

    def __init__(self, types: EventType | Mapping[str, EventType], prefix: str) -> None:
        self.types = types
        self.prefix = prefix
        self.type: EventType | None = None
        self.path: list[str] = []
        self.text: list[str] = []
        self.values: list[Any] = []
        self.seen: set[str] = set()

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise XmlError("the document declares a document type (DOCTYPE), which is never read")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not tag.startswith(self.prefix) or "}" in (name := tag[len(self.prefix) :]):
            expected = self.prefix.strip("{}") or "no namespace"
            raise XmlError(f"element {tag[:80]!r} is not of the event's namespace (expected {expected})")
        self._flush()
        if self.type is None:
            self.type = pick_type(name, self.types)
            self.values = [None] * len(self.type.fields)
            path = ""
        else:
            if len(self.path) >= MAX_DEPTH:
                raise XmlError(f"elements nested deeper than {MAX_DEPTH}")
            outer = self.path[-1]
            path = f"{outer}/{name}" if outer else name
            if self.type.inside(path) is None and not self.type.has(path):
                raise XmlError(str(self.type.unknown(path[:200])))
            if path in self.seen:
                raise XmlError(f"{self.type.name}: element {path!r} occurs twice")
        self.seen.add(path)
        self.path.append(path)
        for key, value in attributes.items():
            if key.startswith(_INSTANCE) and key != f"{_INSTANCE}nil":
                continue
            self._put(f"{path}/@{key}" if path else f"@{key}", value)

    def data(self, text: str) -> None:
        self.text.append(text)

    def end(self, tag: str) -> None:
        assert self.type is not None
        path = self.path.pop()
        if self.type.has(path):
            self._put(path, "".join(self.text))
            self.text.clear()
        else:
            self._flush()

    def comment(self, text: str) -> None:
        """Comments say nothing."""

    def pi(self, name: str, text: str | None = None) -> None:
        """Processing instructions are not for us."""

    def close(self) -> None:
        """The document is over."""

    def event(self) -> Event:
        if self.type is None:
            raise XmlError("not XML: the document is empty")
        return Event.complete(self.type, self.values)

    def _put(self, path: str, text: str) -> None:
        assert self.type is not None
        if not self.type.has(path):
            raise XmlError(str(self.type.unknown(path[:200])))
        place = self.type.place(path)
        try:
            self.values[place] = self.type.fields[place].kind.read(text)
        except ContentError as error:
            raise XmlError(f"{self.type.name}/{path}: {error}") from None

    def _flush(self) -> None:
        """Between elements only white space may stand."""
        if self.text and "".join(self.text).strip(" \t\r\n"):
            raise XmlError(f"text between elements: {''.join(self.text).strip()[:40]!r}")
        self.text.clear()
