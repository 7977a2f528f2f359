"""Conversion of events to and from XML; hostile documents are rejected within limits.

A document's size is checked before parsing. A document type declaration is rejected, so there are no
entities, entity bombs or external files. Parsing stops at the first element that is not in the event type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roamcast.content.event import Event
from roamcast.content.field_type import FieldType
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import EventType
from roamcast.content.xml.errors import XmlError
from roamcast.content.xml.event_target import EventTarget
from roamcast.content.xml.form import INSTANCE, DocumentForm

MAX_XML = 1 << 20
"Maximum size of an event's document [B]; a larger one is rejected without parsing."

_DECLARED = re.compile(r"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]{1,40})["']""")


def write_xml(event: Event, form: DocumentForm | str = "") -> bytes:
    """Return the event as a document in UTF-8 without XML declaration, for a form or a namespace."""
    from lxml import etree

    form = DocumentForm(form) if isinstance(form, str) else form
    # Elements without namespace cannot occur below a default namespace; the root then needs a prefix.
    prefix = "e" if form.unqualified else None
    names: Any = {prefix: form.namespace} if form.namespace else None
    root = etree.Element(form.tag("", event.type.name), nsmap=names)
    _write_fields(root, event.type, event.values, "", form)
    return etree.tostring(root, encoding="utf-8")


def _write_fields(root: Any, type: EventType, values: tuple[Any, ...], base: str, form: DocumentForm) -> None:
    """Write the fields of an event, or of a record at the path `base`, below its element."""
    from lxml import etree

    elements: dict[str, Any] = {"": root}

    def add(path: str) -> Any:
        outer, _, name = path.rpartition("/")
        return etree.SubElement(element(outer), form.tag(_join(base, path), name))

    def element(path: str) -> Any:
        if path not in elements:
            elements[path] = add(path)
        return elements[path]

    always = set(type.always)
    for field, stored in zip(type.fields, values, strict=True):
        outer, _, name = field.path.rpartition("/")
        for container in [a for a in always if field.path.startswith(f"{a}/")]:
            element(container)
            always.discard(container)
        whole = _join(base, field.path)
        if whole in form.lists:
            items = " ".join(_write_item(field.kind, record) for record in stored)
            if stored and name.startswith("@"):
                element(outer).set(form.attribute(whole, name[1:]), items)
            elif stored:
                (root if field.path == VALUE else element(field.path)).text = items
        elif isinstance(field.kind, RecordList):
            for record in stored:
                _write_fields(add(field.path), field.kind.record, record, whole, form)
        elif stored is None:
            if whole in form.nillable:
                element(field.path).set(f"{INSTANCE}nil", "true")
        elif name == VALUE:  # a record's own value, or the presence of a container
            element(outer).text = field.kind.write(stored) or None
        elif name.startswith("@"):
            element(outer).set(form.attribute(whole, name[1:]), field.kind.write(stored))
        else:
            element(field.path).text = field.kind.write(stored) or None


def _write_item(kind: FieldType, record: tuple[Any, ...]) -> str:
    assert isinstance(kind, RecordList)
    return kind.record.fields[0].kind.write(record[0])


def read_xml(
    data: bytes | str,
    types: EventType | Mapping[str, EventType],
    form: DocumentForm | Mapping[str, DocumentForm] | str = "",
) -> Event:
    """Return the event in a document; raise `XmlError` at the first error."""
    text = check_document(data)
    target = EventTarget(types, DocumentForm(form) if isinstance(form, str) else form)
    feed(text, target)
    return target.event()


def read_file(path: Path) -> bytes:
    """Return the bytes of a file, at most one more than the size limit."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_XML + 1)
    except OSError as error:
        raise XmlError(f"{path}: cannot be read: {error.strerror}") from None


def check_document(data: bytes | str) -> str:
    """Return the text of a document in UTF-8 or, with byte order mark, UTF-16; raise `XmlError` otherwise."""
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
        raise XmlError(f"the document declares the encoding {declared[1]}; only UTF-8 is supported")
    return text


def undeclared(text: str) -> bytes:
    """Return the document in UTF-8 without its declaration, which may name another encoding."""
    return re.sub(r"\A<\?xml\s[^>]{0,200}\?>", "", text).encode("utf-8", "surrogatepass")


def feed(text: str, target: Any) -> None:
    """Parse `text` into `target`, which may stop the parser by raising `XmlError`."""
    from lxml import etree

    # Resolving is needed for &amp;. Other entities cannot be declared, since DOCTYPE is rejected.
    safe: dict[str, Any] = {"resolve_entities": "internal", "no_network": True, "load_dtd": False}
    parser = etree.XMLParser(target=target, huge_tree=False, encoding="utf-8", **safe)
    data = undeclared(text)
    try:
        for start in range(0, len(data), 1 << 14):
            parser.feed(data[start : start + (1 << 14)])
        parser.close()
    except etree.XMLSyntaxError as error:
        raise XmlError(f"not XML: {str(error)[:200]}") from None


def _join(base: str, path: str) -> str:
    return f"{base}/{path}" if base else path
