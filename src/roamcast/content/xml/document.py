"""Events to and from XML, written for documents that mean harm.

A document is bounded before it is parsed, has no document type (so no entities, bombs or external
files), is read as it is parsed and given up at the first thing that is not in its event type.
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
"Bytes of an event's document; a larger one is refused unread."

_DECLARED = re.compile(r"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]{1,40})["']""")


def write_xml(event: Event, form: DocumentForm | str = "") -> bytes:
    """The event as a document, in UTF-8 and without declaration; a form, or a namespace alone."""
    from lxml import etree

    form = DocumentForm(form) if isinstance(form, str) else form
    # Below a default namespace nothing can be in none, so where some elements are, the root gets a prefix.
    prefix = "e" if form.unqualified else None
    names: Any = {prefix: form.namespace} if form.namespace else None
    root = etree.Element(form.tag("", event.type.name), nsmap=names)
    _write_fields(root, event.type, event.values, "", form)
    return etree.tostring(root, encoding="utf-8")


def _write_fields(root: Any, type: EventType, values: tuple[Any, ...], base: str, form: DocumentForm) -> None:
    """The fields of an event, or of a record at the path `base`, below its element."""
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
        elif name == VALUE:  # a record's own value, or the word that a container is there
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
    """The event that a document holds; raises `XmlError` for anything else, quickly."""
    text = check_document(data)
    target = EventTarget(types, DocumentForm(form) if isinstance(form, str) else form)
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


def _join(base: str, path: str) -> str:
    return f"{base}/{path}" if base else path
