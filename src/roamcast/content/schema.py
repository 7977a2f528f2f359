"""Event types: a name and an ordered list of typed fields, which may be nested or attributes."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import msgspec

from roamcast.content.box.field_order import PAIR, everything
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Domain, FieldType, Presence
from roamcast.content.record_list import VALUE, RecordList

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.expression import FieldExpression

MAX_FIELDS = 4096
MAX_DEPTH = 256
MAX_RECORD_DEPTH = 16
"Maximum nesting of repeated elements in repeated elements."

_FIRST = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME = f"[{_FIRST}][{_FIRST}.0-9\xb7\u0300-\u036f\u203f\u2040-]*"
"Regular expression of XML names without colons."

_NAME = re.compile(NAME)


class Field(msgspec.Struct, frozen=True):
    """One typed element of an event."""

    path: str
    """Path from the root as in XPath: `price`, `@id`, `artist/name`, `artist/@born`; `.` for a record's own
    value.
    """
    kind: FieldType
    optional: bool = False

    @property
    def steps(self) -> tuple[str, ...]:
        """The components of the path."""
        return tuple(self.path.split("/"))

    @property
    def everything(self) -> Domain:
        """The set of all values that the field can have."""
        return self.kind.everything(self.optional)


class EventType:
    """The name and the fields of a class of events; equal definitions give the same object.

    `CD(price=12.5, category="jazz")` makes an event, `CD.price < 20` a filter. A field whose name is not a
    Python name, or is an attribute of this class, is written `CD["artist/name"]`.
    """

    __slots__ = (
        "__weakref__",
        "_containers",
        "_places",
        "_shortcuts",
        "always",
        "everything",
        "fields",
        "fingerprint",
        "markers",
        "name",
        "owned",
        "record_depth",
    )

    name: str
    fields: tuple[Field, ...]
    always: tuple[str, ...]
    everything: tuple[Domain, ...]
    "The set of all values of each field, by field index."
    fingerprint: bytes
    "Eight bytes that depend on the definition only; they are the same on every machine."

    owned: tuple[tuple[int, int], ...]
    "Attributes of elements with a value: (index of the attribute, index of the element)."
    markers: tuple[tuple[int, tuple[int, ...]], ...]
    "Presence fields of containers: (index of the field, indices of the fields in the container)."
    record_depth: int
    "Nesting depth of repeated elements; 0 if none repeats."
    _places: dict[str, int]
    _shortcuts: dict[str, int]
    _containers: dict[str, tuple[int, ...]]
    _known: ClassVar[WeakValueDictionary[Any, EventType]] = WeakValueDictionary()

    def __new__(
        cls,
        name: str,
        fields: Mapping[str, FieldType] | tuple[Field, ...],
        *,
        optional: tuple[str, ...] = (),
        always: tuple[str, ...] = (),
    ) -> EventType:
        """Declare a type with `fields` by path; the fields in `optional` may be missing.

        `always` names containers that the XML has even if all their fields are missing.
        """
        if isinstance(fields, Mapping):
            for path in optional:
                if path not in fields:
                    raise ContentError(f"{name}: {path!r} is declared optional but is not a field")
            fields = tuple(Field(path, kind, path in optional) for path, kind in fields.items())
        definition = (name, fields, always)
        known = cls._known.get(definition)
        if known is not None:
            return known
        self = super().__new__(cls)
        containers = _check(name, fields, always)
        places = {field.path: place for place, field in enumerate(fields)}
        plain = [name, [[f.path, f.optional, f.kind.describe()] for f in fields], always]
        values = {
            "name": name,
            "fields": fields,
            "always": always,
            "everything": tuple(field.everything for field in fields),
            "fingerprint": hashlib.blake2b(json.dumps(plain).encode(), digest_size=8).digest(),
            "owned": tuple(
                (place, places[f.path.rpartition("/")[0]])
                for place, f in enumerate(fields)
                if f.path.rpartition("/")[0] in places
            ),
            "markers": tuple(
                (place, containers[f.path.removesuffix(f"/{VALUE}")])
                for place, f in enumerate(fields)
                if f.path.endswith(f"/{VALUE}")
            ),
            "record_depth": max(
                (1 + f.kind.record.record_depth for f in fields if isinstance(f.kind, RecordList)), default=0
            ),
            "_places": places,
            "_containers": containers,
            "_shortcuts": {
                f.path[1:]: p for f, p in zip(fields, range(len(fields)), strict=True) if f.path[0] == "@"
            }
            | places,
        }
        for slot, value in values.items():
            object.__setattr__(self, slot, value)
        return cls._known.setdefault(definition, self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an event type is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return _declare, (self.name, self.fields, self.always)

    def __copy__(self) -> EventType:
        return self

    def __deepcopy__(self, memo: Any) -> EventType:
        return self

    def __hash__(self) -> int:
        return int.from_bytes(self.fingerprint, "big") >> 3

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<EventType {self.name}: {', '.join(field.path for field in self.fields)}>"

    def __call__(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> Event:
        """Return an event of this type."""
        from roamcast.content.event import Event

        return Event.of(self, {**(values or {}), **named})

    def __getitem__(self, path: str) -> FieldExpression:
        """Return the field or container at `path`, to build filters with."""
        from roamcast.content.expression import FieldExpression

        if path in self._containers:
            return FieldExpression(self, path, None)
        return FieldExpression(self, path, self.index(path))

    def __getattr__(self, name: str) -> FieldExpression:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except ContentError as error:
            raise AttributeError(str(error)) from None

    def index(self, path: str) -> int:
        """Return the index of the field at `path`; `@` may be omitted if no other field has the name."""
        try:
            return self._shortcuts[path]
        except KeyError:
            raise self.unknown(path) from None

    def domain(self, place: int) -> Domain:
        """Return all values of a field, or all orders of a pair of fields, by index."""
        return self.everything[place] if place < PAIR else everything(self, place)

    def record(self, path: str) -> EventType:
        """Return the event type of the records of the repeated element at `path`."""
        kind = self.fields[self.index(path)].kind
        if not isinstance(kind, RecordList):
            raise ContentError(f"{path!r} of {self.name} is not a repeated element")
        return kind.record

    def unknown(self, path: str) -> ContentError:
        """Return the error for a path that is not a field."""
        if path in self._containers:
            return ContentError(f"{path!r} of {self.name} contains other fields and has no value of its own")
        for field in self.fields:
            if isinstance(field.kind, RecordList) and path.startswith(f"{field.path}/"):
                return ContentError(
                    f"{field.path!r} of {self.name} is a repeated element: {path!r} has no single value"
                )
        near = difflib.get_close_matches(path, self._places, n=1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"it has {', '.join(list(self._places)[:20]) or 'none'}"
        )
        return ContentError(f"{self.name} has no field {path!r}; {hint}")

    def has(self, path: str) -> bool:
        """Return whether there is a field at exactly `path`."""
        return path in self._places

    def fields_below(self, container: str) -> tuple[int, ...] | None:
        """Return the indices of the fields below a container (`""`: the root), or None if there is no such
        container.
        """
        return self._containers.get(container)

    def is_hollow(self, path: str) -> bool:
        """Return whether an empty element at `path` could not be distinguished from a missing one."""
        if path in self._places or path not in self._containers or self.presence_fields(path) is None:
            return False
        return f"{path}/{VALUE}" not in self._places

    def presence_fields(self, path: str) -> tuple[int, ...] | None:
        """Return the indices of the fields that show that `path` is present, or None if it always is."""
        if path in self._places:
            return (self._places[path],)
        if path == "" or any(f"{kept}/".startswith(f"{path}/") for kept in self.always):
            return None
        return self._containers[path]


def _declare(name: str, fields: tuple[Field, ...], always: tuple[str, ...]) -> EventType:
    return EventType(name, fields, always=always)


def _check(name: str, fields: tuple[Field, ...], always: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Raise `ContentError` for a definition that is not valid XML; return the field indices per container."""
    if not _NAME.fullmatch(name):
        raise ContentError(f"{name!r} is not a valid element name")
    if len(fields) > MAX_FIELDS:
        raise ContentError(f"{name} has {len(fields)} fields; the maximum is {MAX_FIELDS}")
    inside: dict[str, list[int]] = {"": []}
    for path in always:
        for depth in range(1, len(path.split("/")) + 1):
            inside.setdefault("/".join(path.split("/")[:depth]), [])
    seen: set[str] = set()
    for place, field in enumerate(fields):
        steps = field.steps
        if len(steps) > MAX_DEPTH:
            raise ContentError(f"{name}: a field is nested {len(steps)} deep; the maximum is {MAX_DEPTH}")
        if field.path in seen:
            raise ContentError(f"{name} has the field {field.path!r} twice")
        seen.add(field.path)
        if isinstance(field.kind, RecordList):
            _check_records(name, field, field.kind)
        if field.path == VALUE:
            inside[""].append(place)
            continue
        _check_steps(name, field)
        for depth in range(len(steps)):
            inside.setdefault("/".join(steps[:depth]), []).append(place)
    _check_attributes(name, {field.path: field for field in fields}, inside)
    return {path: tuple(places) for path, places in inside.items()}


def _check_steps(name: str, field: Field) -> None:
    """Raise `ContentError` if a component of the path is not an XML name; a presence field may end in `.`."""
    *outer, last = field.steps
    if not (last == VALUE and isinstance(field.kind, Presence)):
        outer.append(last.removeprefix("@"))
    for step in outer:
        if not _NAME.fullmatch(step):
            raise ContentError(f"{name}: {step!r} in {field.path!r} is not a valid name")


def _check_records(name: str, field: Field, kind: RecordList) -> None:
    """Raise `ContentError` for a repeated element that is optional, empty or nested too deep."""
    if field.optional:
        raise ContentError(
            f"{name}: {field.path!r} is a repeated element and cannot be optional; use least = 0"
        )
    if not kind.record.fields:
        raise ContentError(f"{name}: {field.path!r} is a repeated element without fields")
    if kind.record.record_depth >= MAX_RECORD_DEPTH:
        raise ContentError(
            f"{name}: {field.path!r} is nested in more than {MAX_RECORD_DEPTH} repeated elements"
        )


def _check_attributes(name: str, fields: Mapping[str, Field], inside: Mapping[str, list[int]]) -> None:
    """Raise `ContentError` unless an element with a value has only attributes below it, optional if it is."""
    for path in fields.keys() & inside.keys():
        for below in (field for field in fields.values() if field.path.startswith(f"{path}/")):
            if not below.path[len(path) + 1 :].startswith("@"):
                raise ContentError(
                    f"{name}: {path!r} has both a value and child elements; mixed content is not supported"
                )
            if fields[path].optional and not below.optional:
                raise ContentError(f"{name}: {below.path!r} must be optional, as its element is")
