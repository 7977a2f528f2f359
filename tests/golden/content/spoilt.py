"""Texts and bytes with a small fault, and what content says of them, be it a complaint or not."""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree

from roamcast.content.codec import decode_event, decode_filter, encode_event, encode_filter
from roamcast.content.declare import declare_type, write_type
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.schema import EventType
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.xml.document import read_xml, write_xml
from roamcast.content.xml.xsd import XmlSchema
from tests.content import generate

from .generated import SPOT, TRIP, drawn, example, told

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
CAP_FILES = Path(__file__).parents[3] / "scenarios/cap"
TOKEN = re.compile(r"""[\w.-]+|"[^"]*"|'[^']*'|[<>!]?=|\s+|.""", re.DOTALL)
FOREIGN = (
    *("[", "]", "(", ")", "/", "//", "@", "*", ".", "..", ",", "|", "=", "<", "!=", "and", "or", "not", "5"),
    *('"x"', "'", "price", "text()", "leg[1]", "$p", "-", "1e5", "contains", "within", "box", "position()"),
)
WRITTEN = (
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
TYPES = {"trip": TRIP, "spot": SPOT}


def texts() -> Iterator[str]:
    """Subscriptions with a token lost, doubled, moved, or another in its place."""
    r = Random("spoilt")
    for text in WRITTEN:
        tokens = TOKEN.findall(text)
        for at in range(len(tokens)):
            other = r.choice(FOREIGN)
            for changed in ((), (tokens[at], tokens[at]), (other,), (tokens[at], " ", other, " ")):
                spoilt = "".join([*tokens[:at], *changed, *tokens[at + 1 :]])
                yield f"{spoilt}: {told(lambda spoilt=spoilt: Filter.parse(spoilt, TYPES))}"  # type: ignore[misc]


DECLARED: dict[str, Any] = {
    "n": {"kind": "integer", "min": 0, "max": 9},
    "x": {"kind": "decimal", "min": -1.5, "optional": True},
    "t": "string",
    "d": {"kind": "date", "min": "2026-01-01", "max": "2026-12-31"},
    "e": {"kind": "enumeration", "values": ["a", "b"]},
    "b/c": "boolean",
    "at": {"kind": "datetime"},
    "long": {"kind": "duration"},
    "area": {"kind": "area", "shape": "circle"},
    "part": {"kind": "records", "least": 1, "fields": {"k": "integer", "v": {"kind": "string"}}},
}
OTHERS: tuple[Any, ...] = (
    *(None, True, 0, -1, 10, 2.5, 1e300, "", "a", "integer", "2026-06-01", "records", [], ["a"], ["a", "a"]),
    *({}, {"kind": "string"}, {"k": "integer"}, [1], "polygon", "*", "a/b", "@a", "."),
)


def nodes(whole: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in a document of JSON."""
    inside = whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from nodes(value, (*path, key))


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at some place, or without it (`...`), or under a name (`("", name)`)."""
    copy = json.loads(json.dumps(whole))
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    if value is ...:
        del holder[path[-1]]
    elif isinstance(value, tuple):
        if isinstance(holder, dict):
            holder[value[1]] = holder.pop(path[-1])
    else:
        holder[path[-1]] = value
    return copy


def declarations() -> Iterator[str]:
    """Declared types with a value changed, or a name."""
    r = Random("declared")
    for path in nodes(DECLARED):
        for value in (..., ("", r.choice(("min", "kind", "q", "a/@b", "n", "x y"))), *r.sample(OTHERS, 5)):
            spoilt = changed(DECLARED, path, value)
            yield f"{path} {value}: {told(lambda spoilt=spoilt: write_type(declare_type('t', spoilt)))}"  # type: ignore[misc]


KEYWORDS: tuple[Any, ...] = (
    *({"type": "string"}, {"type": ["integer", "null"]}, {"type": "object"}, {"const": 5}, {"enum": [1, 2]}),
    *({"type": "array", "items": {"type": "boolean"}}, {"anyOf": [{"type": "string"}]}, {"$ref": "#"}),
    *({"type": "string", "format": "date"}, {"type": "integer", "minimum": 3, "exclusiveMaximum": 7}),
    *({"type": "number", "multipleOf": 0.5}, {"type": "string", "maxLength": 3}, {"not": {}}, {"enum": []}),
    *({"type": "array"}, {"allOf": [{"type": "number"}, {"minimum": 2}]}, {"type": "string", "default": "d"}),
)


STATION: dict[str, Any] = {
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


def schemas_of_json() -> Iterator[str]:
    """A schema of JSON with a value changed, and what it makes of a document."""
    r = Random("json schema")
    reading = json.dumps(READING)

    def read(spoilt: Any) -> str:
        schema = JsonSchema(json.dumps(spoilt), "reading", defaults=True)
        return f"{fields(schema.type())} {told(lambda: schema.read(reading).to_json())}"

    for path in nodes(STATION):
        schema = path[-2:-1] == ("properties",) or path[-1] == "items"
        others = [..., ("", r.choice(("q", "type"))), *OTHERS]
        for value in r.sample(KEYWORDS, 6) if schema else r.sample(others, 2):
            spoilt = changed(STATION, path, value)
            yield f"{path} {value}: {told(lambda spoilt=spoilt: read(spoilt))}"  # type: ignore[misc]


def documents_of_json() -> Iterator[str]:
    """A document with a value changed, under its schema and as an event."""
    r = Random("json")
    schema = JsonSchema.load(EXAMPLES / "sensor.schema.json")
    whole = json.loads((EXAMPLES / "reading.json").read_text())
    event = schema.read(json.dumps(whole))
    plain = json.loads(event.to_json())
    for path in nodes(whole):
        for value in (..., ("", "q"), *r.sample(OTHERS, 6)):
            spoilt = json.dumps(changed(whole, path, value))
            yield told(lambda spoilt=spoilt: schema.read(spoilt).to_json())  # type: ignore[misc]
    for path in nodes(plain):
        for value in (..., ("", "q"), *r.sample(OTHERS, 6)):
            spoilt = json.dumps(changed(plain, path, value))
            yield told(lambda spoilt=spoilt: Event.from_json(spoilt, schema.type()))  # type: ignore[misc]


def fields(type: EventType) -> str:
    """The fields of a type, those of records inside."""
    return str(write_type(type))


NUMBERS = ('<xs:minInclusive value="2"/>', '<xs:maxExclusive value="7"/>', '<xs:enumeration value="5"/>', "")
TEXTS = ('<xs:enumeration value="a"/><xs:enumeration value="b"/>', '<xs:pattern value="[a-c]+"/>')
FACETS = {
    "xs:string": (*TEXTS, '<xs:maxLength value="4"/>', '<xs:whiteSpace value="collapse"/>'),
    "xs:token": (*TEXTS, '<xs:length value="3"/>', ""),
    "xs:int": (*NUMBERS, '<xs:minExclusive value="-3"/>', '<xs:totalDigits value="3"/>'),
    "xs:decimal": (*NUMBERS, '<xs:maxInclusive value="9.5"/>', '<xs:fractionDigits value="2"/>'),
    "xs:boolean": ("", '<xs:pattern value="true"/>'),
    "xs:date": ("", '<xs:minInclusive value="2026-01-01"/>', '<xs:maxExclusive value="2026-01-09"/>'),
    "xs:dateTime": ("", '<xs:maxInclusive value="2026-01-01T00:00:00Z"/>'),
    "xs:duration": ("", '<xs:minExclusive value="PT1S"/>'),
    "xs:anyURI": ("",),
    "xs:unsignedByte": ("", '<xs:maxInclusive value="9"/>'),
    "xs:double": (*NUMBERS, '<xs:maxInclusive value="9.5"/>'),
    "xs:QName": ("",),
    "xs:gYear": ("",),
}
SIMPLE = (*FACETS, "xs:string", "xs:int", "xs:decimal")
OCCURS = (
    "",
    "",
    'minOccurs="0"',
    'maxOccurs="3"',
    'minOccurs="0" maxOccurs="unbounded"',
    'minOccurs="2" maxOccurs="2"',
)


def simple(r: Random) -> str:
    """The inside of an element with a simple type."""
    name = r.choice(SIMPLE)
    base = f'<xs:restriction base="{name}">{r.choice(FACETS[name])}</xs:restriction>'
    roll = r.random()
    if roll < 0.1:
        base = f'<xs:list itemType="{r.choice(SIMPLE)}"/>'
    elif roll < 0.2:
        base = f'<xs:union memberTypes="{r.choice(SIMPLE)} {r.choice(SIMPLE)}"/>'
    return f"<xs:simpleType>{base}</xs:simpleType>"


FITTING = {
    'default="5"': "xs:int",
    'fixed="5"': "xs:string",
    'default="2026-01-01"': "xs:date",
    'nillable="true"': "xs:decimal",
    'use="required"': "xs:decimal",
    'use="prohibited"': "xs:string",
}
"A type for each way to have a usual value."


def value(r: Random) -> str:
    """A usual value of an element, or none."""
    return r.choice(("", "", "", "", *list(FITTING)[:4]))


def element(r: Random, name: str, depth: int) -> str:
    """An element: a value, a value with attributes, or others inside."""
    roll, occurs = r.random(), r.choice(OCCURS)
    if roll < 0.3:
        usual, kind = value(r), r.choice(SIMPLE)
        return f'<xs:element name="{name}" type="{kind if not usual else FITTING[usual]}" {occurs} {usual}/>'
    if roll < 0.6 or not depth:
        return f'<xs:element name="{name}" {occurs}>{simple(r)}</xs:element>'
    attributes = "".join(attribute(r, f"k{n}") for n in range(r.choice((0, 1, 2))))
    if roll < 0.75:
        extended = f'<xs:extension base="{r.choice(SIMPLE)}">{attributes}</xs:extension>'
        inside = f"<xs:simpleContent>{extended}</xs:simpleContent>"
    else:
        several = "".join(element(r, f"{name}{n}", depth - 1) for n in range(r.choice((1, 2, 2, 3))))
        group, often = r.choice(("sequence", "sequence", "choice")), r.choice(OCCURS[:4])
        inside = f"<xs:{group} {often}>{several}</xs:{group}>{attributes}"
    mixed = r.choice((*" " * 8, 'mixed="true"'))
    return (
        f'<xs:element name="{name}" {occurs}><xs:complexType {mixed}>{inside}</xs:complexType></xs:element>'
    )


def attribute(r: Random, name: str) -> str:
    """An attribute, required or not."""
    usual, kind = r.choice(("", *FITTING)).replace("nillable", "default"), r.choice(SIMPLE)
    fitting = {**FITTING, 'default="true"': "xs:boolean"}
    return f'<xs:attribute name="{name}" type="{kind if not usual else fitting[usual]}" {usual}/>'


def schemas_of_xml(seed: int) -> Iterator[str]:
    """Generated schemas, what type they declare, and what is written of its examples and read again."""
    r = Random(f"xsd/{seed}")
    for _ in range(10):
        several = "".join(element(r, name, 2) for name in "abc"[: r.choice((1, 2, 3))])
        attributes = "".join(attribute(r, f"k{n}") for n in range(r.choice((0, 1))))
        inside = f"<xs:complexType><xs:sequence>{several}</xs:sequence>{attributes}</xs:complexType>"
        root = f'<xs:element name="T">{inside}</xs:element>'
        form = r.choice(("", 'elementFormDefault="qualified"', 'targetNamespace="urn:t"'))
        text = f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" {form}>{root}</xs:schema>'
        yield told(lambda text=text, r=r: declared(text, r))  # type: ignore[misc]


def declared(text: str, r: Random) -> str:
    """What a schema declares."""
    schema = XmlSchema(text.encode(), defaults=r.random() < 0.5)
    type = schema.type()
    event = Filter.everything(type).example()
    assert event is not None
    said = [fields(type), str(schema.example_texts(type)), told(lambda: schema.write(event))]
    for each in (event, generate.event(r, type)) if plain(type) else (event,):
        data = told(lambda each=each: schema.write(each).decode())  # type: ignore[misc]
        said += [data, *(told(lambda one=one: schema.read(one)) for one in spoilt_xml(r, data, 5))]  # type: ignore[misc]
    return " ".join(said)


def plain(type: EventType) -> bool:
    """Whether values of all kinds can be drawn."""
    return {field.kind.name for field in type.fields} <= {"integer", "decimal", "string", "boolean", "date"}


def spoilt_xml(r: Random, text: str, count: int) -> Iterator[str]:
    """A document with an element or an attribute lost, doubled, renamed, moved or changed."""
    try:
        whole = etree.fromstring(text.encode())
    except etree.XMLSyntaxError:  # a complaint in the place of a document
        return
    for _ in range(count):
        copy = deepcopy(whole)
        at = r.choice([each for each in copy.iter() if isinstance(each.tag, str)])
        above = at.getparent()
        way = r.randrange(9)
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
            name = r.choice(("k0", "q", "id", "{urn:q}k", "{http://www.w3.org/2001/XMLSchema-instance}nil"))
            at.set(name, r.choice(("5", "true", "x", "")))
        elif way == 7 and at.attrib:
            del at.attrib[r.choice(sorted(at.attrib))]
        elif len(at) > 1:
            at.append(at[0])
        yield etree.tostring(copy, encoding="unicode")


def documents_of_xml() -> Iterator[str]:
    """Documents of examples with parts lost, doubled or changed."""
    r = Random("xml")
    for schema_file, file, count in (
        ("cd.xsd", "kind-of-blue.xml", 60),
        (CAP_FILES / "cap-1.2.xsd", CAP_FILES / "flood.cap.xml", 60),
        ("cot-event.xsd", "medic.cot.xml", 40),
        ("xmpp-message.xsd", "meet.xmpp.xml", 40),
    ):
        schema = XmlSchema.load(EXAMPLES / schema_file)
        text = (EXAMPLES / file).read_text()
        event = schema.read(text)
        yield f"{schema.write(event).decode()} {fields(event.type)}"
        for spoilt in spoilt_xml(r, text, count):
            yield told(lambda schema=schema, spoilt=spoilt: schema.read(spoilt))  # type: ignore[misc]
    for n in range(12):
        type = generate.any_type(r)
        event = generate.event(r, type)
        data = told(lambda event=event: write_xml(event).decode())  # type: ignore[misc]
        yield data
        for spoilt in spoilt_xml(r, data, 8):
            yield f"{n} {told(lambda spoilt=spoilt, type=type: read_xml(spoilt, type))}"  # type: ignore[misc]


def bytes_of_things(sort: str) -> Iterator[str]:
    """Events, filters, summaries and digests as bytes of which one is changed, lost, or too many."""
    r = Random(f"bytes/{sort}")
    for seed in range(8):
        type, filters, _ = drawn(sort, seed)
        events = [event for each in filters for event in [example(each)] if event is not None]
        things: list[tuple[bytes, Callable[[bytes], Any]]] = [
            *((encode_filter(each), partial(decode_filter, types=type)) for each in filters),
            *((encode_event(each), partial(decode_event, types=type)) for each in events),
            *(
                (EventDigest.of(each).to_bytes(), lambda data: EventDigest.from_bytes(data).to_bytes().hex())
                for each in events[:1]
            ),
            (
                Summary.of(filters, BloomShape(64, 2)).to_bytes(),
                lambda data: Summary.from_bytes(data).to_bytes().hex(),
            ),
        ]
        for data, read in things:
            for at in sorted(r.sample(range(len(data)), min(10, len(data)))):
                value = r.choice((data[at] ^ 1, data[at] ^ 128, r.randrange(256), data[at] + 1 & 255))
                changed = r.choice((bytes([value]), bytes([value]), b"", data[at : at + 1] * 2))
                spoilt = data[:at] + changed + data[at + 1 :]
                yield told(lambda read=read, spoilt=spoilt: read(spoilt))  # type: ignore[misc]


SPOILT: dict[str, Callable[[], list[str]]] = {
    "texts": lambda: list(texts()),
    "declarations": lambda: list(declarations()),
    "schemas of JSON": lambda: list(schemas_of_json()),
    "documents of JSON": lambda: list(documents_of_json()),
    **{f"schemas of XML {seed}": lambda seed=seed: list(schemas_of_xml(seed)) for seed in range(6)},  # type: ignore[misc]
    "documents of XML": lambda: list(documents_of_xml()),
    **{f"bytes {sort}": lambda sort=sort: list(bytes_of_things(sort)) for sort in ("any", "spot", "trip")},  # type: ignore[misc]
}
