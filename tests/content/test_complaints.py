"""What a complaint repeats of what was given is cut: it may have come from the air, and be long."""

import json
import re

import pytest

from roamcast.content.area_type import AreaType
from roamcast.content.box.constraint import any_case, compare
from roamcast.content.declare import declare_type
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, Presence, String
from roamcast.content.filter import Filter
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.document import read_xml

LONG = "x" * 999
TRACK = EventType("track", {"n": Integer()})
ALBUM = EventType(
    "album", (Field("title", String()), Field("n", Integer()), Field("track", RecordList(TRACK)))
)


def schema(properties, **more):
    return JsonSchema(json.dumps({"type": "object", "properties": properties, **more}))


ROWS = {
    "a": {"type": "array", "items": {"type": "integer"}},
    "o": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "p": {"type": "object"},
}
TOLD = {
    "integer": (lambda: Integer().read(LONG), 40),
    "decimal": (lambda: Decimal().read(LONG), 40),
    "boolean": (lambda: Boolean().read(LONG), 40),
    "date": (lambda: Date().read(LONG), 40),
    "moment": (lambda: DateTime().read(LONG), 40),
    "duration": (lambda: Duration().read(LONG), 40),
    "enumeration": (lambda: Enumeration(("a",)).read(LONG), 40),
    "presence": (lambda: Presence().store(LONG), 40),
    "area": (lambda: AreaType().read(LONG), 40),
    "a shape": (lambda: AreaType(LONG), 40),
    "what is no area": (lambda: AreaType().store([LONG]), 38),  # and a bracket and a quote before it
    "a place": (lambda: AreaType("circle").read(f"{LONG},1 3"), 40),
    "records": (lambda: RecordList(TRACK).store(LONG), 40),
    "least": (lambda: declare_type("a", {"b": {"kind": "records", "fields": {}, "least": LONG}}), 40),
    "event type": (lambda: Event.from_json(json.dumps({LONG: {}}), ALBUM), 40),
    "event values": (lambda: Event.from_json(json.dumps({"album": LONG}), ALBUM), 40),
    "not a number": (lambda: compare(TRACK.fields[0], "<", LONG), 39),  # and a quote
    "a quoted number": (lambda: Filter.parse(f'/album[n = "{LONG}"]', ALBUM), 40),
    "capital letters": (lambda: any_case(ALBUM.fields[0], ("X" + LONG[1:],)), 40),
    "text between elements": (lambda: read_xml(f"<track>{LONG}<n>3</n></track>", TRACK), 40),
    "a foreign element": (lambda: read_xml(f'<track><{LONG} xmlns="urn:a"/></track>', TRACK), 73),
    "an unknown element": (lambda: read_xml(f"<track><{LONG}/></track>", TRACK), 200),
    "a property": (lambda: schema({f"{LONG} y": {"type": "integer"}}), 187),  # its place is told too
    "another draft": (lambda: schema({}, **{"$schema": LONG}), 80),
    "another document": (lambda: schema({"a": {"$ref": LONG}}), 80),
    "nothing there": (lambda: schema({"a": {"$ref": f"#/{LONG}"}}), 78),
    "declared twice": (
        lambda: schema({}, allOf=[{"properties": {LONG: {"type": kind}}} for kind in ("integer", "string")]),
        40,
    ),
    "no array": (lambda: schema(ROWS).read(json.dumps({"a": LONG})), 40),
    "no object": (lambda: schema(ROWS).read(json.dumps({"o": LONG})), 40),
    "nothing that is there": (lambda: schema(ROWS).read(json.dumps({"p": LONG})), 40),
    "a value": (lambda: schema({"a": {"enum": ["b"]}}).read(json.dumps({"a": LONG})), 40),
    "a value of another kind": (
        lambda: schema({"a": {"type": "integer"}}).read(json.dumps({"a": LONG})),
        199,
    ),
    "where it stands": (lambda: schema({LONG: {"type": "integer"}}).read(json.dumps({LONG: "a"})), 194),
    "where no array stands": (lambda: schema({LONG: ROWS["a"]}).read(json.dumps({LONG: 3})), 194),
    "where no object stands": (lambda: schema({LONG: ROWS["o"]}).read(json.dumps({LONG: 3})), 194),
    "where nothing stands": (lambda: schema({LONG: ROWS["p"]}).read(json.dumps({LONG: 3})), 194),
    "where it is not valid": (
        lambda: schema({LONG: {"type": "integer", "multipleOf": 2}}).read(json.dumps({LONG: 3})),
        100,
    ),
    "no event": (lambda: schema(ROWS).read(json.dumps(LONG)), 40),
    "not valid": (lambda: schema({}, additionalProperties=False).read(json.dumps({LONG: 1})), 160),
}


@pytest.mark.parametrize(("say", "most"), TOLD.values(), ids=TOLD)
def test_what_is_long_is_repeated_in_part(say, most):
    with pytest.raises(ContentError) as raised:
        say()
    message = str(raised.value)
    repeated = re.findall("[xX]+", message)
    assert max(map(len, repeated)) == most, message[:300]


@pytest.mark.parametrize("position", [0, 10, 30, 31, 50, 99])
def test_a_complaint_about_a_subscription_shows_what_stands_around_its_place(position):
    text = "".join(chr(0x4E00 + n) for n in range(100))
    result = FilterError("wrong", text, position)
    around = "".join(letter for n, letter in enumerate(text) if -30 <= n - position < 30)
    assert str(result) == f"wrong, at character {position + 1}: {around!r}"
