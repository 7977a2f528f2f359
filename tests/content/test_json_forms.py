"""JSON Schema in detail: bounds, objects in objects, references, defaults, and what is written back."""

import json
import math

import pytest

from roamcast.content.field_type import INT64, Decimal
from roamcast.content.json.errors import JsonError
from roamcast.content.json.json_document import MAX_VALUES
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.xml.errors import SchemaError


def of(properties, **more):
    return json.dumps({"type": "object", "properties": properties, **more})


def kind_of(result):
    return JsonSchema(of({"a": result})).type().fields[0].kind


LEAST, MOST = Decimal().bounds()


@pytest.mark.parametrize(
    ("result", "bounds"),
    [
        ({"type": "integer"}, INT64),
        ({"type": "integer", "minimum": 3}, (3, INT64[1])),
        ({"type": "integer", "minimum": 2.5, "maximum": 9.5}, (3, 9)),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 9}, (4, 8)),
        ({"type": "integer", "exclusiveMinimum": 2.5, "exclusiveMaximum": 9.5}, (3, 9)),
        ({"type": "integer", "exclusiveMinimum": 3, "minimum": 6, "maximum": 7}, (6, 7)),
        ({"type": "integer", "exclusiveMaximum": 9, "maximum": 20}, (INT64[0], 8)),
        ({"type": "integer", "enum": [5, 3, 9]}, (3, 9)),
        ({"type": "number", "enum": [5, 2.5]}, (2.5, 5.0)),
        ({"const": 4}, (4, 4)),
        ({"type": "number"}, (LEAST, MOST)),
        ({"type": "number", "minimum": 2.5, "maximum": 3}, (2.5, 3.0)),
        ({"type": "number", "exclusiveMinimum": 2.5}, (math.nextafter(2.5, 9), MOST)),
        ({"type": "number", "exclusiveMaximum": 3}, (LEAST, math.nextafter(3.0, 0))),
        ({"minimum": 3}, (3.0, MOST)),
    ],
)
def test_a_number_lies_between_the_narrowest_of_its_bounds(result, bounds):
    assert kind_of(result).bounds() == bounds


HOUSE = of(
    {
        "a": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": {"type": "integer"}, "y": {"type": "string", "default": "why"}},
        },
        "b": {"type": "object", "properties": {"z": {"type": "integer"}}},
        "c": {
            "type": "object",
            "required": ["w"],
            "properties": {"w": {"type": "integer"}, "u": {"type": "string", "default": "you"}},
        },
        "d": {"type": "object"},
        "list": {"type": "array", "minItems": 1, "items": {"type": "integer"}},
        "maybe": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["n"],
                "properties": {"n": {"type": "integer"}, "k": {"type": "string", "default": "key"}},
            },
        },
        "never": False,
        "any": {},
    },
    required=["a", "b", "list", "rows"],
    title="house",
)
FULL = {"a": {"x": 1}, "b": {}, "c": {"w": 2}, "d": {}, "list": [3, 4], "rows": [{"n": 5}]}


def test_objects_are_told_by_what_they_hold_and_where_that_may_be_missing_by_themselves():
    house = JsonSchema(HOUSE).type("house")
    assert [(each.path, each.kind.name, each.optional) for each in house.fields] == [
        ("a/x", "integer", False),
        ("a/y", "string", True),
        ("b/z", "integer", True),
        ("c/.", "presence", True),
        ("c/w", "integer", True),
        ("c/u", "string", True),
        ("d", "presence", True),
        ("list", "records", False),
        ("maybe", "records", False),
        ("rows", "records", False),
    ]
    assert house.always == ("b",)
    assert [each.kind.least for each in house.fields if each.kind.name == "records"] == [1, 0, 0]


@pytest.mark.parametrize("gone", [(), ("c",), ("d",), ("c", "d")])
def test_a_document_is_written_as_it_was_read(gone):
    schema = JsonSchema(HOUSE)
    whole = {key: value for key, value in FULL.items() if key not in gone}
    more = {**whole, "any": {"deep": [1]}, "a/x": 9, "x": None, ".": 3}
    event = schema.read(json.dumps(more))
    assert json.loads(schema.write(event)) == whole
    assert schema.read(schema.write(event)) == event


def test_defaults_are_filled_in_where_their_object_is():
    schema = JsonSchema(HOUSE, defaults=True)
    record = json.loads(schema.write(schema.read(json.dumps(FULL))))
    assert record["a"] == {"x": 1, "y": "why"} and record["c"] == {"w": 2, "u": "you"}
    assert record["rows"] == [{"n": 5, "k": "key"}]
    without = {key: value for key, value in FULL.items() if key != "c"}
    record = json.loads(schema.write(schema.read(json.dumps({**without, "a": {"x": 1, "y": "given"}}))))
    assert "c" not in record and record["a"]["y"] == "given"


def test_references_lead_by_names_and_by_numbers():
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/one~1two"},
            "b": {"$ref": "#/$defs/til~0de"},
            "c": {"$ref": "#/several/1"},
            "d": {"$ref": "#/$defs/maybe"},
        },
        "required": ["a", "b", "c", "d"],
        "$defs": {
            "one/two": {"type": "integer"},
            "til~de": {"type": "boolean"},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        },
        "several": [{"type": "integer"}, {"type": "string"}],
    }
    found = JsonSchema(json.dumps(schema)).type()
    assert [(each.kind.name, each.optional) for each in found.fields] == [
        ("integer", False),
        ("boolean", False),
        ("string", False),
        ("string", True),
    ]
    for wrong in ("#/several/2", "#/several/-1", "#/several/x", "#/$defs/one/two"):
        schema["properties"]["c"] = {"$ref": wrong}
        with pytest.raises(SchemaError, match=r"#/properties/c: '.*' does not exist"):
            JsonSchema(json.dumps(schema))


def test_what_all_of_several_say_is_said_together():
    parts = [
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["b"]},
        {"properties": {"c": {"type": "string"}}},
    ]
    found = JsonSchema(json.dumps({"allOf": parts})).type()
    assert {each.path: each.optional for each in found.fields} == {"a": False, "b": False, "c": True}
    least = {"type": "array", "items": {"type": "integer"}}
    several = {"allOf": [{**least, "minItems": 0}, {**least, "minItems": 2}]}
    assert JsonSchema(of({"l": several}, required=["l"])).type().fields[0].kind.least == 1


@pytest.mark.parametrize(
    ("least", "required", "always"), [(0, True, True), (1, True, False), (1, False, True)]
)
def test_an_object_whose_arrays_may_be_empty_is_there_by_itself(least, required, always):
    inner = {"l": {"type": "array", "items": {"type": "integer"}, "minItems": least}}
    document = {"b": {"type": "object", "properties": inner, "required": ["l"] if required else []}}
    assert JsonSchema(of(document, required=["b"])).type().always == (("b",) if always else ())


def test_alternatives_are_taken_where_only_one_of_them_says_what_it_is():
    assert JsonSchema(of({"a": {"type": "string", "anyOf": [{"minLength": 2}, {"maxLength": 1}]}})).type()
    alone = JsonSchema(of({"a": {"type": "integer", "oneOf": [{"minimum": 2}]}}, required=["a"])).type()
    assert not alone.fields[0].optional
    with pytest.raises(SchemaError, match="alternatives are not supported"):
        JsonSchema(of({"a": {"anyOf": [{"type": "string"}, {"const": 3}, {"type": "null"}]}}))


def test_a_document_holds_no_more_values_than_it_may():
    schema = JsonSchema(of({"l": {"type": "array", "items": {"type": "integer"}}}))

    def document(count):  # the object, the array, and what it holds
        return json.dumps({"l": [1] * (count - 2)})

    assert len(schema.read(document(MAX_VALUES))["l"]) == MAX_VALUES - 2
    with pytest.raises(JsonError, match=f"the document has more than {MAX_VALUES} values"):
        schema.read(document(MAX_VALUES + 1))


def test_what_is_unique_is_compared_deep_down():
    schema = JsonSchema(of({"l": {"type": "array", "items": {"type": "object", "properties": {
        "n": {"type": "number"}}}, "uniqueItems": True}}))  # fmt: skip
    assert schema.read('{"l": [{"n": 1}, {"n": 2}]}')
    with pytest.raises(JsonError, match="not unique"):
        schema.read('{"l": [{"n": 1}, {"n": 1.0}]}')
    deep = JsonSchema(of({"l": {"type": "array", "items": {"type": "object", "properties": {
        "n": {}, "k": {"type": "string"}}}, "uniqueItems": True}}))  # fmt: skip
    assert deep.read('{"l": [{"n": [1, [2]]}, {"n": [1, [3]]}, {"n": [1, 2]}]}')
    with pytest.raises(JsonError, match="not unique"):
        deep.read('{"l": [{"n": [1, [2]]}, {"n": [1.0, [2.0]]}]}')
    free = JsonSchema(of({"l": {"type": "array", "items": {"type": "integer"}, "uniqueItems": False}}))
    assert free.read('{"l": [3, 3]}')["l"] == (3, 3)
