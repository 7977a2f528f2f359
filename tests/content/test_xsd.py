"""XML Schemas as people write them: understood, or refused in a line that names the place."""

from datetime import date
from random import Random

import pytest
from lxml import etree

from roamcast.content.errors import ContentError, FilterError
from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, Presence, String
from roamcast.content.filter import Filter
from roamcast.content.printer import quote
from roamcast.content.schema import EventType
from roamcast.content.xml.errors import SchemaError, XmlError
from roamcast.content.xml.xsd import XmlSchema

from . import generate

XMLNS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'


def schema(*parts, attributes=""):
    return XmlSchema(f"<xs:schema {XMLNS} {attributes}>{''.join(parts)}</xs:schema>".encode())


def element(name, *inside):
    return f'<xs:element name="{name}"><xs:complexType>{"".join(inside)}</xs:complexType></xs:element>'


def sequence(*inside, occurs=""):
    return f"<xs:sequence {occurs}>{''.join(inside)}</xs:sequence>"


def leaf(name, base, occurs="", **facets):
    text = "".join(f'<xs:{facet} value="{value}"/>' for facet, value in facets.items())
    return (
        f'<xs:element name="{name}" {occurs}><xs:simpleType><xs:restriction base="{base}">{text}'
        "</xs:restriction></xs:simpleType></xs:element>"
    )


INT = '<xs:element name="n" type="xs:int"/>'
BASE = f'<xs:complexType name="B" %s>{sequence(INT)}</xs:complexType>'
EXTENSION = sequence('<xs:element name="m" type="xs:token"/>')
EXTENDED = (
    BASE % ""
    + '<xs:complexType name="D"><xs:complexContent><xs:extension base="B">'
    + f"{EXTENSION}</xs:extension></xs:complexContent></xs:complexType>"
    + '<xs:element name="T" type="D"/>'
)
SAID = '<xs:element name="n" type="xs:%s"/>'
FIXED = '<xs:attribute name="version" type="xs:%s" fixed="%s"/>'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([EXTENDED], {"n": Integer(-(2**31), 2**31 - 1), "m": String()}),
        ([element("T", sequence(INT, occurs='minOccurs="0"'))], {"n?": Integer(-(2**31), 2**31 - 1)}),
        (
            [element("T", sequence(leaf("gone", "xs:int", 'minOccurs="0" maxOccurs="0"'), SAID % "double"))],
            {"n": Decimal()},
        ),
        (
            [element("T", sequence(SAID % "boolean"), FIXED % ("string", "1.0"))],
            {"@version?": Enumeration(("1.0",)), "n": Boolean()},
        ),
        (
            [element("T", sequence(SAID % "boolean"), FIXED % ("int", "3"))],
            {"@version?": Integer(3, 3), "n": Boolean()},
        ),
        (
            [element("T", sequence(leaf("n", "xs:anyURI", enumeration="urn:a")))],
            {"n": Enumeration(("urn:a",), collapse=True)},
        ),
        (
            [
                element(
                    "T", sequence(leaf("n", "xs:date", minExclusive="2005-01-01", maxInclusive="2005-02-01"))
                )
            ],
            {"n": Date(date(2005, 1, 2), date(2005, 2, 1))},
        ),
        ([element("Überweisung", sequence(SAID.replace('"n"', '"Ärger"') % "date"))], {"Ärger": Date()}),
        (
            [
                f'<xs:group name="g">{sequence(SAID % "boolean")}</xs:group>',
                element("T", sequence('<xs:group ref="g" minOccurs="0"/>')),
            ],
            {"n?": Boolean()},
        ),
    ],
)
def test_what_people_write_is_understood(parts, expected):
    [type] = schema(*parts).types.values()
    assert {f.path + "?" * f.optional: f.kind for f in type.fields} == expected


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([element("T", sequence(INT, SAID % "date", INT))], "with different types"),
        ([BASE % 'abstract="true"', '<xs:element name="T" type="B"/>'], "no global element"),
        (
            [BASE % 'abstract="true"', element("T", sequence('<xs:element name="b" type="B"/>'))],
            "T/b: abstract types are not supported",
        ),
        (
            [element("T", sequence(leaf("n", "xs:integer", minInclusive=2**64)))],
            "T/n: an integer cannot have the bounds",
        ),
        ([element("T", sequence(leaf("n", "xs:date", minInclusive="2005-01-01Z")))], "T/n: .* time zone"),
        (
            [
                '<xs:element name="T"><xs:complexType><xs:simpleContent><xs:extension base="xs:int">'
                "</xs:extension></xs:simpleContent></xs:complexType></xs:element>"
            ],
            "T: the root element cannot have a value",
        ),
        (
            [
                '<xs:import namespace="urn:y" schemaLocation="http://example.org/y.xsd"/>',
                element("T", sequence(INT)),
            ],
            "Import of namespace 'urn:y'",
        ),
        (["nothing like a schema"], "not an XML Schema"),
    ],
)
def test_what_no_event_can_be_is_refused_by_place(parts, complaint, recwarn):
    with pytest.raises(SchemaError, match=complaint) as raised:
        schema(*parts)
    assert "\n" not in str(raised.value)
    assert not recwarn.list


IN_X = 'targetNamespace="urn:x" xmlns="urn:x"'


def test_elements_are_in_the_target_namespace_and_attributes_in_none():
    qualified = schema(element("T", sequence(INT)), attributes=f'{IN_X} elementFormDefault="qualified"')
    event = Event.of(qualified.type(), {"n": 3})
    assert qualified.write(event) == b'<T xmlns="urn:x"><n>3</n></T>'
    assert qualified.read(b'<x:T xmlns:x="urn:x"><x:n>3</x:n></x:T>') == event
    with pytest.raises(XmlError, match="expected urn:x"):
        qualified.read(b"<T><n>3</n></T>")
    by_reference = schema(INT, element("T", sequence('<xs:element ref="n"/>')), attributes=IN_X)
    assert by_reference.write(Event.of(by_reference.type(), {"n": 3})) == qualified.write(event)
    local = schema(element("T", sequence(INT)), attributes=IN_X)
    assert local.write(Event.of(local.type(), {"n": 3})) == b'<e:T xmlns:e="urn:x"><n>3</n></e:T>'
    attribute = '<xs:attribute name="id" type="xs:int" form="qualified"/>'
    named = schema(element("T", attribute), attributes=IN_X)
    assert named.read(b'<x:T xmlns:x="urn:x" x:id="3"/>')["@id"] == 3
    with pytest.raises(ContentError, match="no field '@id'"):
        named.read(b'<x:T xmlns:x="urn:x" id="3"/>')


def test_files_beside_a_schema_are_included_and_no_others(tmp_path):
    (tmp_path / "sub").mkdir()
    named = '<xs:simpleType name="P"><xs:restriction base="xs:boolean"/></xs:simpleType>'
    (tmp_path / "types.xsd").write_text(f"<xs:schema {XMLNS}>{named}</xs:schema>")
    including = (
        f'<xs:schema {XMLNS} {IN_X} elementFormDefault="qualified"><xs:include schemaLocation="%s"/>'
        + element("T", sequence('<xs:element name="p" type="P"/>'))
        + "</xs:schema>"
    )
    (tmp_path / "t.xsd").write_text(including % "types.xsd")
    assert XmlSchema.load(tmp_path / "t.xsd").type().fields[0].kind == Boolean()
    for name, location in (
        ("t.xsd", "missing.xsd"),
        ("sub/t.xsd", "../types.xsd"),
        ("t.xsd", "http://x.org/y"),
    ):
        (tmp_path / name).write_text(including % location)
        with pytest.raises(SchemaError, match=r"t\.xsd: a required schema is not available: "):
            XmlSchema.load(tmp_path / name)


def test_a_file_that_is_no_xml_is_not_taken_for_the_name_of_one(tmp_path):
    for text in ("", "other.xsd", "/etc/passwd"):
        (tmp_path / "a.xsd").write_text(text)
        with pytest.raises(SchemaError, match=r"a\.xsd: not an XML Schema: .*Start tag|a\.xsd: .*empty"):
            XmlSchema.load(tmp_path / "a.xsd")


def test_a_refused_element_beside_an_event_type_keeps_its_reason():
    both = schema(element("T", sequence(INT)), element("U", sequence('<xs:element ref="U" minOccurs="0"/>')))
    assert list(both.types) == ["T"]
    with pytest.raises(FilterError, match="'U' is not an event type: U/U: recursive content") as raised:
        Filter.parse("/U[n=1]", both.types)
    assert raised.value.position == 1
    with pytest.raises(ContentError, match="U/U: recursive"):
        both.read(b"<U><n>1</n></U>")
    with pytest.raises(ContentError, match="no event type is called 'V'; known: T"):
        both.type("V")


@pytest.mark.parametrize(
    ("text", "value"), [("1.5E3", 1500.0), ("-2e-1", -0.2), ("+7", 7.0), (" 12 ", 12.0), ("-0", 0.0)]
)
def test_a_double_is_read_as_its_schema_allows(text, value):
    number = schema(element("T", sequence(SAID % "double")))
    event = number.read(f"<T><n>{text}</n></T>")
    assert event["n"] == value
    assert number.read(number.write(event)) == event


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        ("double", "INF", "is not a finite number"),
        ("double", "1e999", "exceeds the range"),
        ("decimal", "1e3", "not valid against the schema"),
        ("int", "٣", "not an integer"),
        ("decimal", "٣", "not a decimal"),
        ("date", "2005-01-01+02:00", "without time zone"),
        ("date", "٢٠٠٥-01-01", "not a date"),
        ("boolean", "TRUE", "neither 'true' nor 'false'"),
    ],
)
def test_a_value_that_is_not_of_its_kind_is_refused(kind, text, complaint):
    with pytest.raises(XmlError, match=complaint):
        schema(element("T", sequence(SAID % kind))).read(f"<T><n>{text}</n></T>")


def write_kind(kind):
    if isinstance(kind, Enumeration):
        text = "".join(f"<xs:enumeration value={quote(value)}/>" for value in kind.values)
        return f'<xs:simpleType><xs:restriction base="xs:string">{text}</xs:restriction></xs:simpleType>'
    if isinstance(kind, Boolean | String):
        return f'<xs:simpleType><xs:restriction base="xs:{kind.name}"/></xs:simpleType>'
    low, high = map(kind.write, kind.bounds())
    facets = f'<xs:minInclusive value="{low}"/><xs:maxInclusive value="{high}"/>'
    return f'<xs:simpleType><xs:restriction base="xs:{kind.name}">{facets}</xs:restriction></xs:simpleType>'


def write_content(type, base):
    """The sequence and the attributes of the element at `base`, in the order of the type's fields."""
    prefix = f"{base}/" if base else ""
    by_path = {field.path: field for field in type.fields}
    inside = [f for f in type.fields if f.path.startswith(prefix)]
    elements, attributes = [], []
    for step in dict.fromkeys(f.path[len(prefix) :].split("/")[0] for f in inside):
        path = prefix + step
        field = by_path.get(path)
        missing = (
            field.optional if field else all(f.optional for f in inside if f.path.startswith(f"{path}/"))
        )
        if step.startswith("@"):
            use = "optional" if missing else "required"
            attributes.append(
                f'<xs:attribute name="{step[1:]}" use="{use}">{write_kind(field.kind)}</xs:attribute>'
            )
            continue
        own = (
            write_kind(field.kind)
            if field
            else f"<xs:complexType>{write_content(type, path)}</xs:complexType>"
        )
        elements.append(f'<xs:element name="{step}" minOccurs="{int(not missing)}">{own}</xs:element>')
    return sequence(*elements) + "".join(attributes)


@pytest.mark.parametrize("batch", range(4))
def test_lxml_gives_the_same_answer_on_documents_of_generated_schemas(batch):
    r = Random(f"schemas/{batch}")
    answers = set()
    for _ in range(40):
        drawn = generate.event_type(r)
        type = EventType("T", tuple(field for field in drawn.fields if field.path != "a/@unit"))
        written = schema(element("T", write_content(type, "")))
        shown = {f.path: f for f in written.type().fields if not isinstance(f.kind, Presence)}
        alone = [f for f in shown.values() if f.kind == Enumeration(("",))]
        assert {p: f for p, f in shown.items() if f not in alone} == {f.path: f for f in type.fields}
        for _ in range(5):
            text = generate.xpath(r, written.type(), pure=True)
            wanted = Filter.parse(text, written.types)
            event = Event.complete(written.type(), list(generate.near(r, written.type(), wanted).values))
            document = written.write(event)
            assert written.read(document) == event
            expected = bool(etree.fromstring(document).getroottree().xpath(text))
            assert wanted.matches(event) == expected, (text, event)
            answers.add(expected)
    assert answers == {True, False}


def test_only_the_blanks_of_xml_collapse_in_enumerations_and_lists():
    wide = "\u3000"  # an ideographic space, of which XML Schema says nothing
    listed = '<xs:simpleType><xs:list itemType="xs:string"/></xs:simpleType>'
    read = schema(
        element(
            "T",
            sequence(
                leaf("n", "xs:token", enumeration=f"a{wide}b"),
                f'<xs:element name="items">{listed}</xs:element>',
            ),
        )
    )
    event = read.read(f"<T><n>\n\ta{wide}b </n><items>1{wide}2 \t3</items></T>".encode())
    assert event["n"] == f"a{wide}b"
    assert event["items"] == (f"1{wide}2", "3")
    with pytest.raises(XmlError, match="is not in the enumeration"):
        read.read(b"<T><n>a b</n><items/></T>")
