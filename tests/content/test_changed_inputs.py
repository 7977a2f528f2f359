"""Good inputs with one small change: refused with a clear message, or read and written back unchanged.

Whether a changed document is valid is asked of a second implementation (lxml, jsonschema).
"""

import json
import re
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random

import jsonschema
import pytest
from lxml import etree

from roamcast.content.codec import decode_event, decode_filter, encode_event, encode_filter
from roamcast.content.declare import declare_type, write_type
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.xml.document import read_xml, write_xml
from roamcast.content.xml.xsd import XmlSchema

from . import generate
from .drawn import SORTS, SPOT, TRIP, examples, filters

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs/examples"
TOKEN = re.compile(r"""[\w.-]+|"[^"]*"|'[^']*'|[<>!]?=|\s+|.""", re.DOTALL)
FOREIGN = (
    *("[", "]", "(", ")", "/", "//", "@", "*", ".", "..", ",", "|", "=", "<", "!=", "and", "or", "not", "5"),
    *('"x"', "'", "price", "text()", "leg[1]", "$p", "-", "1e5", "contains", "within", "box", "position()"),
)
SUBSCRIPTIONS = (
    '/trip[price>4.5 and name="Linz"]',
    "/trip[not(seats=3) or starts-with(name, 'a')]",
    '/trip[lower-case(name)="linz"][sort="bus"]',
    "/trip[price<limit]/leg[km<=7 and from<to]",
    '/trip[start>="2026-03-01T00:00:00Z" and pause<"PT90M"]',
    "/trip[ends-with(name, 'b') and contains(name, 'a')] | /trip[leg/km=4]",
    '/spot[within(., circle(48.2, 16.37, "5 km"))]',
    "/spot[intersects(zone, box(47, 16, 48, 17)) and near/lat>-5]",
    "/spot[near[lat=0 and lon=0] or not(zone)]",
)


@pytest.mark.parametrize("text", SUBSCRIPTIONS)
def test_a_changed_subscription_is_refused_at_a_position_or_read(text):
    r, types, refused, read = Random(text), {"trip": TRIP, "spot": SPOT}, 0, 0
    tokens = TOKEN.findall(text)
    for at in range(len(tokens)):
        other = r.choice(FOREIGN)
        for change in ((), (tokens[at], tokens[at]), (other,), (tokens[at], " ", other, " ")):
            changed = "".join([*tokens[:at], *change, *tokens[at + 1 :]])
            try:
                found = Filter.parse(changed, types)
            except FilterError as error:
                refused += 1
                assert 0 <= error.position <= len(changed)
                continue
            read += 1
            assert Filter.parse(str(found), types) == found
            assert all(found.matches(event) for event in examples(found, 2))
    assert refused > len(tokens) and refused > read


DECLARED = {
    "n": {"kind": "integer", "min": 0, "max": 9},
    "x": {"kind": "decimal", "min": -1.5, "optional": True},
    "t": "string",
    "d": {"kind": "date", "min": "2026-01-01", "max": "2026-12-31"},
    "e": {"kind": ["a", "b"]},
    "b/c": "boolean",
    "at": {"kind": "datetime"},
    "long": {"kind": "duration"},
    "area": {"kind": "area", "shape": "circle"},
    "part": {"kind": "records", "least": 1, "fields": {"k": "integer", "v": {"kind": "string"}}},
}
VALUES = (
    *(None, True, 0, -1, 10, 2.5, 1e300, "", "a", "integer", "2026-06-01", "records", [], ["a"], ["a", "a"]),
    *({}, {"kind": "string"}, {"k": "integer"}, [1], "polygon", "*", "a/b", "@a", "."),
)


def paths(whole, path=()):
    """The path to each value in a JSON document."""
    inside = whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from paths(value, (*path, key))


def changes(r, whole, values=VALUES, count=6):
    """Copies of a JSON document in which one value is missing, has another name, or is another value."""
    for path in paths(whole):
        for value in (..., "renamed", *r.sample(values, count)):
            copy = json.loads(json.dumps(whole))
            holder = copy
            for key in path[:-1]:
                holder = holder[key]
            if value is ...:
                del holder[path[-1]]
            elif value == "renamed":
                if isinstance(holder, dict):
                    holder[r.choice(("min", "kind", "q", "a/@b", "type", "x y"))] = holder.pop(path[-1])
            else:
                holder[path[-1]] = value
            yield copy


def test_a_changed_declaration_is_refused_or_written_back():
    refused = read = 0
    for changed in changes(Random("declared"), DECLARED):
        try:
            type = declare_type("t", changed)
        except ContentError:
            refused += 1
            continue
        read += 1
        assert declare_type("t", write_type(type)) == type
        event = Filter.everything(type).example()
        assert decode_event(encode_event(event), type) == event
    assert min(refused, read) > 50


STATION = {
    "type": "object",
    "required": ["name", "rows"],
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]+$"},
        "at": {"type": "string", "format": "date-time"},
        "mark": {"enum": ["raw", "final"], "default": "raw"},
        "spot": {"$ref": "#/$defs/spot"},
        "note": {"type": ["string", "null"]},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"of": {"type": "integer"}}, "required": ["of"]},
        },
    },
    "$defs": {
        "spot": {
            "type": "object",
            "properties": {"lat": {"type": "number", "minimum": -90, "exclusiveMaximum": 90}},
            "additionalProperties": False,
        }
    },
}
READING = {
    "name": "RO",
    "at": "2026-11-16T05:40:00Z",
    "spot": {"lat": 48.25},
    "note": None,
    "rows": [{"of": 4}, {"of": 5, "more": True}],
}
KEYWORDS = (
    *({"type": "string"}, {"type": ["integer", "null"]}, {"type": "object"}, {"const": 5}, {"enum": [1, 2]}),
    *({"type": "array", "items": {"type": "boolean"}}, {"anyOf": [{"type": "string"}]}, {"$ref": "#"}),
    *({"type": "string", "format": "date"}, {"type": "integer", "minimum": 3, "exclusiveMaximum": 7}),
    *({"type": "number", "multipleOf": 0.5}, {"type": "string", "maxLength": 3}, {"not": {}}, {"enum": []}),
    *({"type": "array"}, {"allOf": [{"type": "number"}, {"minimum": 2}]}, {"type": "string", "default": "d"}),
)


def accepts(schema, document):
    """What the library jsonschema says."""
    return jsonschema.Draft202012Validator(schema).is_valid(document)


def test_a_changed_json_schema_is_refused_or_decides_as_jsonschema_does():
    refused = accepted = 0
    for changed in changes(Random("json schema"), STATION, KEYWORDS, 3):
        try:
            schema = JsonSchema(json.dumps(changed), "reading")
        except ContentError:
            refused += 1
            continue
        try:
            event = schema.read(json.dumps(READING))
        except ContentError:
            continue
        accepted += 1
        assert accepts(changed, READING)
        assert Event.from_json(event.to_json(), schema.type()) == event
    assert min(refused, accepted) > 20


def test_a_changed_json_document_is_accepted_exactly_if_jsonschema_accepts_it():
    text = (EXAMPLES / "sensor.schema.json").read_text()
    schema, plain = JsonSchema(text, "reading"), json.loads(text)
    whole = json.loads((EXAMPLES / "reading.json").read_text())
    refused = accepted = 0
    for changed in changes(Random("json"), whole):
        try:
            event = schema.read(json.dumps(changed))
        except ContentError:
            refused += 1
            continue
        accepted += 1
        assert accepts(plain, changed)
        assert Event.from_json(event.to_json(), schema.type()) == event
    assert min(refused, accepted) > 20
    event = schema.read(json.dumps(whole))
    for changed in changes(Random("event"), json.loads(event.to_json())):
        try:
            found = Event.from_json(json.dumps(changed), schema.type())
        except ContentError:
            continue
        assert Event.from_json(found.to_json(), schema.type()) == found


def changed_xml(r, text, count):
    """A document with an element or an attribute lost, doubled, renamed, moved or changed."""
    whole = etree.fromstring(text)
    for _ in range(count):
        copy = deepcopy(whole)
        at = r.choice([each for each in copy.iter() if isinstance(each.tag, str)])
        above = at.getparent()
        way = r.randrange(8)
        if way == 0 and above is not None:
            above.remove(at)
        elif way == 1 and above is not None:
            above.insert(r.randrange(len(above) + 1), deepcopy(at))
        elif way == 2:
            at.tag = r.choice(("q", "{urn:q}a", "a", "b"))
        elif way == 3:
            at.text = r.choice(("", " ", "5", "x", "-1", "2026-01-01", " true ", None))
        elif way == 4:
            at.insert(0, r.choice((etree.Comment("c"), etree.ProcessingInstruction("p"), etree.Element("q"))))
        elif way == 5:
            at.tail = r.choice(("x", "  ", "\n"))
        elif way == 6:
            at.set(r.choice(("k0", "q", "id", "{urn:q}k")), r.choice(("5", "true", "x", "")))
        elif at.attrib:
            del at.attrib[r.choice(sorted(at.attrib))]
        yield etree.tostring(copy)


@pytest.mark.parametrize(
    ("xsd", "file"),
    [
        (EXAMPLES / "cd.xsd", EXAMPLES / "kind-of-blue.xml"),
        (ROOT / "scenarios/cap/cap-1.2.xsd", ROOT / "scenarios/cap/flood.cap.xml"),
        (EXAMPLES / "cot-event.xsd", EXAMPLES / "medic.cot.xml"),
    ],
    ids=lambda path: path.name,
)
def test_a_changed_xml_document_that_is_read_is_valid_for_lxml_too(xsd, file):
    schema, twin = XmlSchema.load(xsd), etree.XMLSchema(etree.parse(xsd))
    refused = read = 0
    for changed in changed_xml(Random(file.name), file.read_bytes(), 60):
        try:
            event = schema.read(changed)
        except ContentError:
            refused += 1
            continue
        read += 1
        assert twin.validate(etree.fromstring(changed)), twin.error_log
        assert schema.read(schema.write(event)) == event
    assert min(refused, read) >= 5


def test_a_changed_document_of_a_generated_type_is_refused_or_written_back():
    r = Random("xml")
    for _ in range(12):
        type = generate.any_type(r)
        event = generate.event(r, type)
        for changed in (data := write_xml(event), *changed_xml(r, data, 8)):
            try:
                found = read_xml(changed, type)
            except ContentError:
                assert changed is not data
                continue
            assert read_xml(write_xml(found), type) == found


@pytest.mark.parametrize("sort", SORTS)
def test_changed_bytes_are_refused_or_the_one_way_to_write_what_they_say(sort):
    r = Random(f"bytes/{sort}")
    for _ in range(8):
        some = filters(r, sort)
        type = some[0].type
        events = [event for each in some for event in examples(each, 1)]
        things = [
            *((encode_filter(each), partial(decode_filter, types=type), encode_filter) for each in some),
            *((encode_event(each), partial(decode_event, types=type), encode_event) for each in events),
            *(
                (EventDigest.of(each).to_bytes(), EventDigest.from_bytes, EventDigest.to_bytes)
                for each in events[:1]
            ),
            (Summary.of(some, BloomShape(64, 2)).to_bytes(), Summary.from_bytes, Summary.to_bytes),
        ]
        for data, read, write in things:
            for at in r.sample(range(len(data)), min(10, len(data))):
                value = r.choice((data[at] ^ 1, data[at] ^ 128, r.randrange(256), data[at] + 1 & 255))
                other = r.choice((bytes([value]), bytes([value]), b"", data[at : at + 1] * 2))
                changed = data[:at] + other + data[at + 1 :]
                try:
                    found = read(changed)
                except ContentError:
                    continue
                assert write(found) == changed
