"""Event types from JSON Schema: a reading of a station, with values and their limits."""

import json
import time
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.content.codec import decode_event, encode_event
from roamcast.content.filter import Filter
from roamcast.content.json.errors import JsonError
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.xml.errors import SchemaError

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
SCHEMA = JsonSchema.load(EXAMPLES / "sensor.schema.json")
READING = SCHEMA.type("reading")
DOCUMENT = (EXAMPLES / "reading.json").read_bytes()


def test_the_type_is_what_the_schema_says():
    assert {f.path: (f.kind.name, f.optional) for f in READING.fields} == {
        "station": ("string", False),
        "at": ("datetime", False),
        "quality": ("enumeration", True),
        "position/.": ("presence", True),
        "position/lat": ("decimal", True),
        "position/lon": ("decimal", True),
        "note": ("string", True),
        "values": ("records", False),
    }
    assert READING.fields[READING.index("values")].kind.least == 1
    assert [f.path for f in READING.record("values").fields] == ["of", "value", "limit", "tags"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('/reading[station="RO*" and at>="2026-11-16T00:00:00Z"]', True),
        ("/reading[values[value>limit]]", True),
        ('/reading[values[of="rain" and value>20]]', False),
        ('/reading[values/tags="river"]', True),
        ("/reading[position/lat>48 and position/lon<17]", True),
        ("/reading[note]", False),
        ("/reading[not(quality)]", True),
    ],
)
def test_what_is_asked_of_a_reading(text, expected):
    assert Filter.parse(text, READING).matches(SCHEMA.read(DOCUMENT)) is expected


def test_an_event_is_written_as_it_was_read_without_what_no_type_knows():
    event = SCHEMA.read(DOCUMENT)
    written = json.loads(SCHEMA.write(event))
    assert "battery" not in written
    assert written["values"][1] == {"of": "rain", "value": 12.0}
    assert SCHEMA.read(SCHEMA.write(event)) == event
    assert decode_event(encode_event(event), READING) == event


def test_defaults_are_filled_in_by_choice():
    filled = JsonSchema.load(EXAMPLES / "sensor.schema.json", defaults=True)
    assert filled.read(DOCUMENT)["quality"] == "raw"
    assert SCHEMA.read(DOCUMENT)["quality"] is None
    assert filled.type() is READING


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"station": "x"}, "not valid against the schema: station: 'x' does not match"),
        ({"at": "yesterday"}, "reading/at: 'yesterday' is not a point in time"),
        ({"values": []}, "'values' is missing"),
        ({"values": [{"of": "snow", "value": 1}]}, "reading/values/0/of: 'snow' is not in the enumeration"),
        ({"values": {"of": "rain"}}, "expected an array"),
        ({"position": {"lat": 91, "lon": 0}}, "91 is not between"),
        ({"position": {"lat": 1, "lon": 0, "alt": 3}}, "not valid against the schema: position"),
        ({"note": 5}, "5 is not a string"),
        ({"station": None}, "'station' is missing"),
        ({"station": "\x01"}, "cannot be written"),
    ],
)
def test_a_document_that_is_not_one_is_refused(change, reason):
    whole = {**json.loads(DOCUMENT), **change}
    with pytest.raises(JsonError, match=reason.replace("(", r"\(")):
        SCHEMA.read(json.dumps(whole))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1]",
        b'{"station": "RO1", "station": "RO2"}',
        b'{"position": NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"values":[' + b"{}," * 20_000 + b"{}]}",
        b" " * ((1 << 20) + 1),
        b'{"x":' * 900 + b"1" + b"}" * 900,
    ],
)
def test_hostile_documents_are_refused_quickly(data):
    start = time.process_time()
    with pytest.raises(JsonError):
        SCHEMA.read(data)
    assert time.process_time() - start < 1


def schema(**properties):
    return json.dumps({"type": "object", "properties": properties})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "must be an object"),
        ('{"$schema": "http://json-schema.org/draft-07/schema#"}', "another draft"),
        ('{"$schema": 7}', "'7' is another draft"),
        ('{"type": "array", "items": {"type": "string"}}', "an event must be an object"),
        ('{"type": "objekt"}', "not a JSON Schema"),
        (
            schema(a={"type": ["string", "integer"]}),
            "#/properties/a: the property has the types string, integer",
        ),
        (
            schema(a={"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            "#/properties/a/oneOf: alternatives are not supported",
        ),
        (schema(a={"$ref": "other.json"}), "other documents are never read"),
        (schema(a={"$ref": "#/$defs/x"}), "'#/\\$defs/x' does not exist"),
        (schema(a={"$ref": "#/properties/a"}), "recursive"),
        (schema(a={"$ref": "#"}), "recursive"),
        (schema(a={"type": "array"}), "declared by 'items'"),
        (
            schema(a={"type": "array", "items": {"type": "array", "items": {}}}),
            "items of an array must be objects",
        ),
        (schema(a={"type": "array", "prefixItems": [{}]}), "declared by 'items'"),
        (schema(**{"a b": {"type": "string"}}), "is not a valid name in a path"),
        (
            schema(a={"type": "integer", "minimum": 3, "maximum": 2}),
            "#/properties/a: an integer cannot have the bounds",
        ),
        (schema(a={"enum": ["x", 3]}), "has the types string, integer"),
        (
            '{"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "null"}}}]}',
            "declared twice",
        ),
    ],
)
def test_what_no_event_can_be_is_refused_with_its_place(text, reason):
    with pytest.raises(SchemaError, match=reason):
        JsonSchema(text)


def test_references_that_multiply_are_counted_while_they_are_read():
    definitions = {
        f"d{n}": {"type": "object", "properties": {x: {"$ref": f"#/$defs/d{n + 1}"} for x in "abcdefgh"}}
        for n in range(12)
    }
    definitions["d12"] = {"type": "object", "properties": {"x": {"type": "string"}}}
    start = time.process_time()
    with pytest.raises(SchemaError, match="more than 4096 fields"):
        JsonSchema(json.dumps({"$ref": "#/$defs/d0", "$defs": definitions}))
    assert time.process_time() - start < 1


def test_all_of_several_and_null_instead_are_understood():
    text = {
        "title": "alarm",
        "$ref": "#/$defs/base",
        "properties": {"level": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9.5}},
        "required": ["level"],
        "$defs": {
            "base": {
                "type": "object",
                "properties": {"room": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                "required": ["room"],
            },
        },
    }
    loaded = JsonSchema(json.dumps(text))
    alarm = loaded.type()
    assert {f.path: f.optional for f in alarm.fields} == {"level": False, "room": True}
    assert alarm.fields[alarm.index("level")].kind.bounds() == (1, 9)
    assert loaded.read('{"level": 3.0, "room": null}')["level"] == 3


def test_the_command_line_takes_it(capsys):
    schema, document = str(EXAMPLES / "sensor.schema.json"), str(EXAMPLES / "reading.json")
    asked = ["filter", "match", "--schema", schema, "--filter", "/reading[values[value>limit]]", document]
    assert invoke(asked) == 0
    assert capsys.readouterr().out.startswith("yes")
    assert invoke(["filter", "explain", "/reading[position/lat>48]", "--schema", schema]) == 0
    assert '"lat":49' in capsys.readouterr().out
