import json
from datetime import date

import pytest

from roamcast.content.declare import declare_type, infer_type, write_type
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, String
from roamcast.content.schema import EventType
from roamcast.content.xpath.guess import guess_types


def test_a_type_is_declared_as_plain_data():
    declared = declare_type(
        "alert",
        {
            "level": {"kind": "integer", "min": 0, "max": 9},
            "area": ["north", "south"],
            "area/@since": {"kind": "date", "min": "2005-01-01", "optional": True},
            "ok": "boolean",
            "price": {"kind": "decimal", "max": 5},
            "text": {"kind": "string", "optional": True},
        },
    )
    assert declared is EventType(
        "alert",
        {
            "level": Integer(0, 9),
            "area": Enumeration(("north", "south")),
            "area/@since": Date(min=date(2005, 1, 1)),
            "ok": Boolean(),
            "price": Decimal(max=5.0),
            "text": String(),
        },
        optional=("area/@since", "text"),
    )


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("int", "'int' is not a field type"),
        ({"min": 3}, "None is not a field type"),
        ({"kind": {"kind": "string"}}, "is not a field type"),
        ({"kind": "string", "min": 3}, "'min' is not a key of kind 'string'"),
        ({"kind": "integer", "least": 3}, "'least' is not a key of kind 'integer'"),
        ({"kind": "integer", "min": 3.5}, "3.5 is not an integer"),
        ({"kind": "integer", "min": 3, "max": 2}, "cannot have the bounds"),
        ([1, 2], "the values of an enumeration must be strings"),
        ([], "must list at least one value"),
        ({"kind": "date", "min": "soon"}, "'soon' is not a date"),
    ],
)
def test_a_wrong_declaration_names_the_field(field, complaint):
    with pytest.raises(ContentError, match=complaint) as raised:
        declare_type("alert", {"level": field})
    assert str(raised.value).startswith("alert/level: ")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"a b": String()}, "is not a valid name"),
        ({"a/@b/c": String()}, "is not a valid name"),
        ({"a": String(), "a/b": String()}, "has both a value and child elements"),
        ({"/".join("x" * 300): String()}, "deep"),
    ],
)
def test_a_type_that_could_not_be_xml_is_refused(fields, complaint):
    with pytest.raises(ContentError, match=complaint):
        EventType("T", fields)
    with pytest.raises(ContentError, match="valid element name"):
        EventType("1", {})


def test_a_type_is_inferred_from_values():
    samples = [{"n": 1, "x": 1, "s": "a", "b": True}, {"n": 2, "x": 1.5, "b": False, "d": date(2005, 1, 1)}]
    inferred = infer_type("T", samples)
    assert {f.path: (f.kind.name, f.optional) for f in inferred.fields} == {
        "n": ("integer", False),
        "x": ("decimal", False),
        "s": ("string", True),
        "b": ("boolean", False),
        "d": ("date", True),
    }
    with pytest.raises(ContentError, match="T/n: no field type has all the values"):
        infer_type("T", [{"n": 1}, {"n": "a"}])
    with pytest.raises(ContentError):
        infer_type("T", [{"n": True}, {"n": 1}])


def test_a_type_is_guessed_from_subscriptions():
    types = guess_types(
        ["/T[n>3 and box/s='x']/box", "/T[n='5' or not(@w<'2005-01-01')]", "/U[contains(a, '5')][b]", "/V"]
    )
    assert {name: {f.path: f.kind.name for f in t.fields} for name, t in types.items()} == {
        "T": {"n": "decimal", "box/s": "string", "@w": "date"},
        "U": {"a": "string", "b": "string"},
        "V": {},
    }


def test_a_type_written_as_plain_data_is_declared_again_as_the_same_type():
    declared = declare_type(
        "all",
        {
            "text": "string",
            "@id": {"kind": "integer", "min": -5},
            "deep/level": {"kind": "integer", "min": 1, "max": 9, "optional": True},
            "price": {"kind": "decimal", "max": 99.5},
            "day": {"kind": "date", "min": "2005-03-08"},
            "any-day": "date",
            "loud": {"kind": "boolean", "optional": True},
            "side": ["north", "south"],
            "shade": {"kind": ["dark"], "optional": True},
        },
    )
    record = json.loads(json.dumps(write_type(declared)))
    assert declare_type("all", record) is declared
    assert record["text"] == "string" and record["side"] == ["north", "south"]
    assert record["deep/level"] == {"kind": "integer", "min": 1, "max": 9, "optional": True}
