"""Schemas of a few kilobytes that multiply: they are counted, not written out.

Processor time and memory are those of a process of its own for each shape; an honest schema takes 0.02 s and
no memory worth the name.
"""

import json
import os
import resource
import time
from contextlib import suppress

import pytest
import xmlschema

from roamcast.content.errors import ContentError
from roamcast.content.field_type import Integer
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.xml.errors import SchemaError
from roamcast.content.xml.schema_cost import SchemaCost
from roamcast.content.xml.xsd import XmlSchema

LEAF = '<xs:element name="e" type="xs:string"/>'
LOOSE = 'minOccurs="0" maxOccurs="unbounded"'
SECONDS, MEGABYTES = 1.5, 150
"Measured: 0.7 s and 60 MB at the most, which other machines may take longer for."


def xsd(*parts):
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{"".join(parts)}</xs:schema>'


def types(wide, deep, roots=1):
    holding = '<xs:complexType name="t{}"><xs:sequence>{}</xs:sequence></xs:complexType>'
    inner = [
        holding.format(n, "".join(f'<xs:element name="a{k}" type="t{n + 1}"/>' for k in range(wide)))
        for n in range(deep)
    ]
    named = [f'<xs:element name="T{n}" type="t0"/>' for n in range(roots)]
    return xsd(*inner, holding.format(deep, LEAF), *named)


def chained(wide, deep, chain):
    """Types that multiply, at the end of a long way in which each has one element alone."""
    first = types(wide, deep).replace(f'name="t{deep}"', f'name="t{deep + chain}"')
    way = "".join(
        f'<xs:complexType name="t{n}"><xs:sequence><xs:element name="a" type="t{n + 1}"/></xs:sequence>'
        "</xs:complexType>"
        for n in range(deep, deep + chain)
    )
    return first.replace("</xs:schema>", f"{way}</xs:schema>")


def groups(wide, deep, occurs="", users=1):
    inner = [
        f'<xs:group name="g{n}"><xs:sequence>'
        + f'<xs:group ref="g{n + 1}" {occurs}/>' * wide
        + "</xs:sequence></xs:group>"
        for n in range(deep)
    ]
    element = f'<xs:element name="e" type="xs:string" {occurs}/>'
    last = f'<xs:group name="g{deep}"><xs:sequence>{element}</xs:sequence></xs:group>'
    using = '<xs:complexType><xs:group ref="g0"/></xs:complexType>'
    return xsd(*inner, last, *(f'<xs:element name="T{n}">{using}</xs:element>' for n in range(users)))


def unions(wide, deep, values=""):
    inner = [
        f'<xs:simpleType name="u{n}"><xs:union memberTypes="{f"u{n + 1} " * wide}"/></xs:simpleType>'
        for n in range(deep)
    ]
    last = f'<xs:restriction base="xs:string">{values}</xs:restriction>'
    inner.append(f'<xs:simpleType name="u{deep}">{last}</xs:simpleType>')
    named = '<xs:complexType><xs:attribute name="a" type="u0"/></xs:complexType>'
    return xsd(*inner, f'<xs:element name="T">{named}</xs:element>')


def patterns(value):
    limited = f'<xs:restriction base="xs:string"><xs:pattern value="{value}"/></xs:restriction>'
    named = f'<xs:attribute name="a"><xs:simpleType>{limited}</xs:simpleType></xs:attribute>'
    return xsd(f'<xs:element name="T"><xs:complexType>{named}</xs:complexType></xs:element>')


def substitutes(levels):
    """Heads for which two stand, that hold the next head each."""
    each = "".join(
        f'<xs:complexType name="t{n}"><xs:complexContent><xs:extension base="b"><xs:sequence>'
        f'<xs:element ref="h{n + 1}"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>'
        f'<xs:element name="h{n + 1}" type="b"/>'
        f'<xs:element name="x{n}" type="t{n}" substitutionGroup="h{n}"/>'
        f'<xs:element name="y{n}" type="t{n}" substitutionGroup="h{n}"/>'
        for n in range(levels)
    )
    return xsd('<xs:complexType name="b"/><xs:element name="h0" type="b"/>', each)


def extensions(length):
    first = f'<xs:complexType name="t0"><xs:sequence>{LEAF}</xs:sequence></xs:complexType>'
    others = "".join(
        f'<xs:complexType name="t{n}"><xs:complexContent><xs:extension base="t{n - 1}"><xs:sequence>'
        f'<xs:element name="e{n}" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent>'
        "</xs:complexType>"
        for n in range(1, length + 1)
    )
    return xsd(first, others, f'<xs:element name="T" type="t{length}"/>')


def references(wide, deep, join):
    """JSON Schema: definitions that refer to the next some times, as properties or all at once."""
    definitions = {f"d{n}": join([{"$ref": f"#/$defs/d{n + 1}"}] * wide) for n in range(deep)}
    definitions[f"d{deep}"] = {"type": "object", "properties": {"v": {"type": "string"}}}
    document = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    return json.dumps(document, separators=(",", ":"))


def as_properties(parts):
    return {"type": "object", "properties": {f"p{n}": part for n, part in enumerate(parts)}}


def as_items(parts):
    return {"type": "array", "items": as_properties(parts)}


def all_at_once(parts):
    return {"allOf": parts}


SHAPES = {
    "types of 4096 fields": types(2, 12),
    "types of a billion fields": types(2, 25),
    "types for many roots": types(4, 6, roots=20),
    "types after a long way": chained(8, 4, 10),
    "groups": groups(2, 21),
    "groups of what may be left out": groups(4, 6, LOOSE),
    "groups of what may be left out, not too many": groups(22, 2, LOOSE),
    "groups of many elements": groups(2, 14),
    "groups for many roots": groups(15, 2, LOOSE, users=16),
    "unions": unions(2, 25),
    "unions of listed values": unions(8, 5, '<xs:enumeration value="a"/><xs:enumeration value="b"/>'),
    "classes in patterns": patterns(r"[^\i\c\p{L}]" * 120),
    "substitution groups": substitutes(15),
    "extensions": extensions(24),
    "references": references(2, 25, as_properties),
    "references in arrays": references(2, 20, as_items),
    "all of references": references(2, 25, all_at_once),
    "all of many references": references(30, 5, all_at_once),
}


def measure(read):
    """Processor seconds and megabytes that reading takes in a process of its own."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            with suppress(ContentError):
                read()
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            os.write(write_end, json.dumps([time.process_time() - start, grown / 1024]).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    result = os.read(read_end, 1000)
    os.close(read_end)
    os.waitpid(child, 0)
    assert result, "an exception that is not declared, or 20 s"
    return json.loads(result)


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """Have them there, so that only reading is measured."""
    XmlSchema(types(1, 1).encode())
    JsonSchema(references(1, 1, as_properties))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_schema_that_multiplies_takes_little(shape):
    text = SHAPES[shape]
    assert len(text) < 5000
    seconds, megabytes = measure(lambda: JsonSchema(text) if text[0] == "{" else XmlSchema(text.encode()))
    print(f"{shape}: {len(text)} bytes, {seconds:.2f} s, {megabytes:.0f} MB")
    assert seconds < SECONDS
    assert megabytes < MEGABYTES


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (groups(2, 21), "the content models have too many elements"),
        (groups(4, 6, LOOSE), "the content models have too many elements"),
        (unions(2, 25), "nested unions multiply"),
        (patterns(r"\p{L}" * 300), "the patterns have 300 character classes"),
        (types(2, 25), "more than 4096 fields"),
        (chained(8, 4, 10), "too many elements in total"),
    ],
)
def test_what_multiplies_is_refused_with_its_reason(text, reason):
    with pytest.raises(SchemaError, match=reason):
        XmlSchema(text.encode())


def written_out(group, loose=False):
    """The elements of a content model one by one: whether each may be left out or repeated."""
    loose = loose or (group.min_occurs, group.max_occurs) != (1, 1) or group.model == "choice"
    for each in group:
        if hasattr(each, "model"):
            yield from written_out(each, loose)
        else:
            yield loose or (each.min_occurs, each.max_occurs) != (1, 1)
            yield from (loose for _ in each.iter_substitutes())


@pytest.mark.parametrize(
    "text",
    [
        groups(3, 3),
        groups(2, 4),
        groups(2, 3, LOOSE),
        groups(2, 3).replace('<xs:group ref="g1" />', '<xs:group ref="g1" minOccurs="0"/>', 1),
        groups(2, 2).replace("sequence", "choice", 2),
        substitutes(2),
        extensions(3),
    ],
)
def test_elements_are_counted_as_if_all_groups_were_written_out(text):
    schema = xmlschema.XMLSchema(text, validation="skip")
    counting = SchemaCost(schema)
    own = [type.content for type in (*schema.types.values(), *(e.type for e in schema.elements.values()))]
    for model in own:
        elements = list(written_out(model))
        assert counting.size(model) == (len(elements), sum(elements))
    assert {id(model) for model in own} <= {id(model) for model in counting.models()}


def test_of_many_roots_those_are_read_that_there_is_room_for():
    read = XmlSchema(types(4, 6, roots=20).encode())
    assert list(read.types) == ["T0"]
    assert "too many elements in total" in read.types.refused["T19"]


def test_what_stays_small_is_read_however_it_is_nested():
    assert XmlSchema(groups(2, 8).encode()).types
    assert XmlSchema(groups(4, 3, "").encode()).types
    assert XmlSchema(unions(3, 4).encode()).types
    assert XmlSchema(patterns(r"[\i-[:]][\c-[:]]*\p{L}").encode()).types


def test_two_parts_may_have_a_third_in_common():
    base = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    parts = {part: {"allOf": [{"$ref": "#/$defs/base"}]} for part in ("one", "other")}
    document = {
        "allOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/other"}],
        "$defs": {"base": base, **parts},
    }
    (type,) = JsonSchema(json.dumps(document)).types.values()
    assert [(field.path, field.kind, field.optional) for field in type.fields] == [("id", Integer(), False)]
    many = references(2, 25, all_at_once)
    (type,) = JsonSchema(many).types.values()
    assert [field.path for field in type.fields if field.path != "a/."] == ["a/v"]


def test_what_refers_to_itself_by_others_is_refused_even_where_they_are_known():
    values = {
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/b"}, "second": {"$ref": "#/$defs/a"}},
        "$defs": {
            "a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/b"}}},
            "b": {"allOf": [{"$ref": "#/$defs/c"}]},
            "c": {"type": "object", "properties": {"y": {"$ref": "#/$defs/a"}}},
        },
    }
    with pytest.raises(ContentError, match="recursive"):
        JsonSchema(json.dumps(values))


def test_a_refusal_does_not_repeat_a_thousand_digits():
    document = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 10**1900}}}
    with pytest.raises(ContentError, match="an integer cannot have the bounds 1000") as refused:
        JsonSchema(json.dumps(document))
    assert len(str(refused.value)) < 200
