"""Event types from JSON Schema (Draft 2020-12), and validation of documents.

jsonschema validates schemas and documents. Constructs that an event type cannot represent (recursive,
alternative or open content) are rejected when the schema is read, with their position.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, pick_type
from roamcast.content.json.errors import JsonError
from roamcast.content.json.json_document import MAX_JSON, MAX_VALUES, parse_json, plain_event, read_event
from roamcast.content.json.json_type import JsonTypeReader
from roamcast.content.schema import NAME, EventType
from roamcast.content.xml.errors import SchemaError

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class JsonSchema:
    """The event type of one schema: the described object, named by its title or by its file."""

    def __init__(self, text: bytes | str, name: str = "event", defaults: bool = False) -> None:
        try:
            whole = parse_json(text)
        except JsonError as error:
            raise SchemaError(str(error)) from None
        if not isinstance(whole, dict):
            raise SchemaError("the schema of an event must be an object")
        if str(whole.get("$schema", _DRAFT)).rstrip("#") != _DRAFT:
            raise SchemaError(f"{str(whole['$schema'])[:80]!r} is another draft; only 2020-12 is supported")
        try:
            self._validator = _validator(whole)
            reader = JsonTypeReader(whole)
            title = whole.get("title", "")
            self._type = reader.event_type(title if re.fullmatch(NAME, title) else name)
        except RecursionError:
            raise SchemaError("the schema is nested too deeply") from None
        except SchemaError:
            raise
        except ContentError as error:
            raise SchemaError(str(error)) from None
        self.types: dict[str, EventType] = {self._type.name: self._type}
        self.files: list[Path] = []
        "Files that the schema refers to: always empty, since references to other files are rejected."
        self._defaults = reader.defaults if defaults else {}

    @classmethod
    def load(cls, path: Path, defaults: bool = False) -> JsonSchema:
        """Read a schema file without references to other files; with `defaults`, apply default values."""
        try:
            with path.open("rb") as file:
                text = file.read(MAX_JSON + 1)
        except OSError as error:
            raise SchemaError(f"{path}: cannot be read: {error.strerror}") from None
        stem = path.stem.removesuffix(".schema")
        try:
            return cls(text, stem if re.fullmatch(NAME, stem) else "event", defaults)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from None

    def type(self, name: str | None = None) -> EventType:
        """Return the event type; raise `ContentError` if `name` is another one."""
        return self._type if name is None else pick_type(name, self.types)

    def read(self, data: bytes | str) -> Event:
        """Return the event of a document that is valid by the schema."""
        whole = parse_json(data)
        event = read_event(self._type, whole, self._defaults)
        self._validate(whole)
        return event

    def write(self, event: Event) -> bytes:
        """Return the event as a document that is valid by the schema."""
        whole = plain_event(event)
        self._validate(whole)
        return _written(whole)

    def example_texts(self, type: EventType) -> dict[int, str]:
        """Return texts for examples: always empty, since no text is preferred."""
        return {}

    def write_first(self, events: Iterable[Event]) -> tuple[bytes, str] | None:
        """Return the first event that is valid as a document; if none is, the first event and its error."""
        refused: tuple[bytes, str] | None = None
        for event in islice(events, 64):
            try:
                return self.write(event), ""
            except JsonError as error:
                refused = refused or (_written(plain_event(event)), str(error))
        return refused

    def _validate(self, whole: Any) -> None:
        try:
            error = next(self._validator.iter_errors(whole), None)
        except RecursionError:
            raise JsonError("the document is nested too deeply to be validated") from None
        if error is not None:
            where = "/".join(map(str, error.absolute_path))
            raise JsonError(f"not valid against the schema: {where[:100]}: {error.message[:200]}")


def _validator(schema: dict[str, Any]) -> Any:
    import jsonschema  # type: ignore[import-untyped]
    from jsonschema.validators import extend  # type: ignore[import-untyped]

    draft = jsonschema.Draft202012Validator
    if _size(schema) > MAX_VALUES:
        raise SchemaError(f"the schema has more than {MAX_VALUES} values")
    try:
        draft.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        raise SchemaError(f"not a JSON Schema: {where[:100]}: {error.message[:200]}") from None
    except re.error as error:
        raise SchemaError(f"not a JSON Schema: an invalid pattern: {error}") from None
    return extend(draft, {"uniqueItems": _unique_items})(schema)


def _size(schema: Any) -> int:
    left, count = [schema], 0
    while left and count <= MAX_VALUES:
        each = left.pop()
        count += 1
        if isinstance(each, dict):
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
    return count


def _unique_items(validator: Any, wanted: Any, items: Any, schema: Any) -> Iterator[Any]:
    """Check `uniqueItems` like the library, but not in quadratic time."""
    from jsonschema import ValidationError

    if wanted is True and isinstance(items, list):
        written = {json.dumps(_same_numbers(each), sort_keys=True) for each in items}
        if len(written) < len(items):
            yield ValidationError("has items that are not unique")


def _same_numbers(value: Any) -> Any:
    """Return the value with 3.0 as 3, which JSON Schema treats as equal."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_same_numbers(each) for each in value]
    return {key: _same_numbers(each) for key, each in value.items()} if isinstance(value, dict) else value


def _written(whole: Any) -> bytes:
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
