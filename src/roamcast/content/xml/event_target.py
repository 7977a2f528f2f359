"""The parser target that builds the values of one event while the document is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, pick_type
from roamcast.content.field_type import collapse_blanks, split_blanks
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import EventType
from roamcast.content.xml.errors import XmlError
from roamcast.content.xml.form import INSTANCE, DocumentForm

MAX_DEPTH = 250


class EventTarget:
    """Receives elements from the parser and raises `XmlError` at the first one that is not in the event
    type.
    """

    def __init__(
        self, types: EventType | Mapping[str, EventType], forms: DocumentForm | Mapping[str, DocumentForm]
    ) -> None:
        self.types = types
        self.forms = forms
        self.form = DocumentForm()
        self.root: _Frame | None = None
        self.open: list[_Element] = []
        "The elements that are not closed yet."
        self.skipped = 0
        "Number of elements and attributes of open content, which the type does not have."
        self.skipping = 0
        "Nesting depth of the parser inside open content; 0 outside."

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Reject the document, since a DOCTYPE can declare entities and external files."""
        raise XmlError("the document declares a document type (DOCTYPE), which is not allowed")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        if self.skipping:
            self._skip()
            return
        if self.root is None:
            element = self._begin(tag)
        else:
            self._flush()
            if len(self.open) >= MAX_DEPTH:
                raise XmlError(f"elements nested deeper than {MAX_DEPTH}")
            child = self._child(tag)
            if child is None:
                self._skip()
                return
            element = child
        self.open.append(element)
        self._attributes(element, attributes)

    def data(self, text: str) -> None:
        """Handle text in the current element."""
        if not self.skipping:
            self.open[-1].text.append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if self.skipping:
            self.skipping -= 1
            return
        element = self.open[-1]
        frame, path = element.frame, element.path
        whole_record = path == "" and frame is not self.root
        value = VALUE if path == "" else path
        if frame.type.has(value) and not element.nil:
            whole = f"{frame.base}/{value}" if frame.base else value
            text = "".join(element.text) or self.form.defaults.get(element.path_from_root, "")
            self._put(frame, value, whole, text)
        else:
            self._flush()
            if element.empty and not element.nil:
                raise XmlError(f"{element.whole}: an optional element without content would read as missing")
        self.open.pop()
        if whole_record:
            element.frame.finish()

    def comment(self, text: str) -> None:
        """Ignore a comment."""

    def pi(self, name: str, text: str | None = None) -> None:
        """Ignore a processing instruction."""

    def close(self) -> None:
        """Handle the end of the document."""

    def event(self) -> Event:
        """Return the event; raise `XmlError` if the document has no root."""
        if self.root is None:
            raise XmlError("not XML: the document is empty")
        return Event.complete(self.root.type, self.root.values)

    def _begin(self, tag: str) -> _Element:
        name = tag.rpartition("}")[2]
        type = pick_type(name, self.types)
        form = self.forms if isinstance(self.forms, DocumentForm) else self.forms[name]
        if tag != form.tag("", name):
            raise _foreign(tag, form)
        self.form = form
        self.root = _Frame(type, "")
        return _Element(self.root, "", name)

    def _child(self, tag: str) -> _Element | None:
        """Return the element that starts in the current one, or None if it is open content."""
        outer = self.open[-1]
        frame = outer.frame
        name = tag.rpartition("}")[2]
        path = f"{outer.path}/{name}" if outer.path else name
        whole = f"{frame.base}/{path}" if frame.base else path
        known = frame.type.fields_below(path) is not None or frame.type.has(path)
        if not known or tag != self.form.tag(whole, name):
            if outer.path_from_root in self.form.open:
                return None
            if not known and self.form.tag(whole, name).rpartition("}")[0] == tag.rpartition("}")[0]:
                raise outer.unknown(path)
            raise _foreign(tag, self.form)
        outer.empty = False
        if frame.type.has(path):
            place = frame.type.index(path)
            kind = frame.type.fields[place].kind
            if isinstance(kind, RecordList) and whole not in self.form.lists:
                return _Element(_Frame(kind.record, whole, frame, place), "", f"{outer.whole}/{name}")
        if path in frame.seen:
            raise XmlError(f"{frame.type.name}: element {path!r} occurs twice")
        frame.seen.add(path)
        element = _Element(frame, path, f"{outer.whole}/{name}")
        element.empty = frame.type.is_hollow(path)
        marker = f"{path}/{VALUE}"
        if frame.type.has(marker):
            frame.put(marker, "")
        return element

    def _attributes(self, element: _Element, attributes: Mapping[str, str]) -> None:
        for key, text in attributes.items():
            if key.startswith(INSTANCE):
                if key == f"{INSTANCE}nil":
                    if element.path_from_root not in self.form.nillable:
                        raise XmlError(f"{element.whole}: xsi:nil is not allowed here by the schema")
                    element.nil = collapse_blanks(text) in ("true", "1")
                elif key == f"{INSTANCE}type":
                    element.chosen = text
                continue
            path = (
                f"{element.path}/@{key.rpartition('}')[2]}" if element.path else f"@{key.rpartition('}')[2]}"
            )
            whole = f"{element.frame.base}/{path}" if element.frame.base else path
            if element.frame.type.has(path) and key == self.form.attribute(whole, path.rpartition("@")[2]):
                element.empty = False
                self._put(element.frame, path, whole, text)
            elif element.path_from_root in self.form.open_attributes:
                self.skipped += 1
            else:
                raise element.unknown(path)
        if self.form.defaults:
            self._default_attributes(element, {key.rpartition("}")[2] for key in attributes})

    def _default_attributes(self, element: _Element, given: set[str]) -> None:
        """Set the schema's default values of attributes that the element omits."""
        prefix = f"{element.path}/@" if element.path else "@"
        base = f"{element.frame.base}/" if element.frame.base else ""
        for field in element.frame.type.fields:
            name = field.path.removeprefix(prefix)
            if field.path.startswith(prefix) and name not in given:
                text = self.form.defaults.get(f"{base}{field.path}")
                if text is not None:
                    element.empty = False
                    self._put(element.frame, field.path, f"{base}{field.path}", text)

    def _put(self, frame: _Frame, path: str, whole: str, text: str) -> None:
        if whole not in self.form.lists:
            frame.put(path, text)
            return
        for item in split_blanks(text):
            record = _Frame(frame.type.record(path), whole, frame, frame.type.index(path))
            record.put(VALUE, item)
            record.finish()

    def _skip(self) -> None:
        self.skipping += 1
        self.skipped += 1
        if len(self.open) + self.skipping > MAX_DEPTH:
            raise XmlError(f"elements nested deeper than {MAX_DEPTH}")

    def _flush(self) -> None:
        """Raise `XmlError` if there is text other than white space between elements."""
        element = self.open[-1]
        if element.text and "".join(element.text).strip(" \t\r\n"):
            raise XmlError(f"text between elements: {''.join(element.text).strip()[:40]!r}")
        element.text.clear()


class _Frame:
    """The event, or a record in it, that is being parsed."""

    __slots__ = ("base", "outer", "place", "seen", "type", "values")

    def __init__(self, type: EventType, base: str, outer: _Frame | None = None, place: int = 0) -> None:
        self.type = type
        self.base = base
        "Path of its element from the root."
        self.outer = outer
        self.place = place
        "Field index of its element in the outer frame."
        self.values: list[Any] = [None] * len(type.fields)
        self.seen: set[str] = set()

    def put(self, path: str, text: str) -> None:
        """Store a value from its text."""
        place = self.type.index(path)
        try:
            self.values[place] = self.type.fields[place].kind.read(text)
        except ContentError as error:
            where = f"{self.type.name}/{path}" if path != VALUE else self.base
            raise XmlError(f"{where}: {error}") from None

    def finish(self) -> None:
        """Append the completed record to the outer frame."""
        assert self.outer is not None
        records = self.outer.values[self.place]
        if records is None:
            records = self.outer.values[self.place] = []
        records.append(Event.complete(self.type, self.values).values)


class _Element:
    """An open element: its path in its frame, and its text so far."""

    __slots__ = ("chosen", "empty", "frame", "nil", "path", "text", "whole")

    def __init__(self, frame: _Frame, path: str, whole: str) -> None:
        self.frame = frame
        self.path = path
        self.whole = whole
        "For messages: the path with the root's name."
        self.text: list[str] = []
        self.nil = False
        self.chosen = ""
        "The type that the document selects for it by `xsi:type`."
        self.empty = False
        "Whether it has no content so far that distinguishes it from a missing element."

    @property
    def path_from_root(self) -> str:
        frame = self.frame
        return f"{frame.base}/{self.path}" if frame.base and self.path else frame.base or self.path

    def unknown(self, path: str) -> XmlError:
        """Return the error for an element or attribute that the type does not have."""
        message = str(self.frame.type.unknown(path[:200]))
        if self.chosen:
            message += f" (xsi:type selects {self.chosen[:40]!r}, whose additional fields are unknown)"
        return XmlError(message)


def _foreign(tag: str, form: DocumentForm) -> XmlError:
    expected = form.namespace or "no namespace"
    return XmlError(f"element {tag[:80]!r} is not of the event's namespace (expected {expected})")
