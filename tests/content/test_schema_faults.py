"""What schemas of the world brought with them, and how it is read or refused now."""

import time

import pytest

from roamcast.content.area_type import AreaType
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, Presence, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.time_types import DateTime
from roamcast.content.xml.document import read_xml
from roamcast.content.xml.errors import SchemaError, XmlError
from roamcast.content.xml.xsd import XmlSchema

XMLNS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"'
INSTANCE = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
NOTHING = (
    '<xs:simpleType name="nothing"><xs:restriction base="xs:string"><xs:enumeration value=""/>'
    "</xs:restriction></xs:simpleType>"
)


def schema(*parts, attributes=""):
    return XmlSchema(f"<xs:schema {XMLNS} {attributes}>{''.join(parts)}</xs:schema>".encode())


def holding(*elements, attributes=""):
    inside = f"<xs:sequence>{''.join(elements)}</xs:sequence>{attributes}"
    return f'<xs:element name="T"><xs:complexType>{inside}</xs:complexType></xs:element>'


def kinds(type):
    return {f.path + "?" * f.optional: f.kind for f in type.fields}


def test_an_element_whose_only_text_is_empty_is_there_or_not():
    extended = (
        '<xs:element name="a" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="nothing">'
        '<xs:attribute name="k"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>'
    )
    read = schema(NOTHING, holding(extended))
    assert kinds(read.type()) == {"a/@k?": String(), "a?": Enumeration(("",))}
    there, missing = read.read("<T><a/></T>"), read.read("<T/>")
    wanted = Filter.parse("/T[a]", read.types)
    assert wanted.matches(there)
    assert not wanted.matches(missing)
    assert read.write(there) == b"<T><a/></T>"


def test_one_element_that_cannot_be_read_leaves_the_others():
    both = schema(
        '<xs:element name="U"><xs:complexType><xs:sequence><xs:element ref="U"/></xs:sequence>'
        "</xs:complexType></xs:element>",
        holding('<xs:element name="n" type="xs:int"/>'),
    )
    assert list(both.types) == ["T"]
    assert "recursive" in both.types.refused["U"]


@pytest.mark.parametrize("shape", ["types", "groups"])
def test_types_that_hold_types_are_counted_while_they_are_read(shape, recwarn):
    start = time.process_time()
    if shape == "types":
        parts = [
            f'<xs:complexType name="t{n}"><xs:sequence><xs:element name="a" type="t{n + 1}"/>'
            f'<xs:element name="b" type="t{n + 1}"/></xs:sequence></xs:complexType>'
            for n in range(13)
        ]
        parts.append(
            '<xs:complexType name="t13"><xs:sequence><xs:element name="e" type="xs:string"/></xs:sequence>'
            '</xs:complexType><xs:element name="T" type="t0"/>'
        )
    else:
        parts = [
            f'<xs:group name="g{n}"><xs:sequence><xs:group ref="g{n + 1}"/><xs:group ref="g{n + 1}"/>'
            "</xs:sequence></xs:group>"
            for n in range(12)
        ]
        parts.append(
            '<xs:group name="g12"><xs:sequence><xs:element name="e" type="xs:string"/></xs:sequence>'
            "</xs:group>"
            '<xs:element name="T"><xs:complexType><xs:group ref="g0"/></xs:complexType></xs:element>'
        )
    with pytest.raises(SchemaError, match="more than 4096"):
        schema(*parts)
    assert time.process_time() - start < 5
    assert not recwarn.list  # the schema library has a word of its own for it


def test_a_pattern_that_takes_too_long_refuses_the_document():
    pattern = (
        '<xs:element name="p"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="(a|aa)+b"/>'
        "</xs:restriction></xs:simpleType></xs:element>"
    )
    with pytest.raises(XmlError, match="pattern of the schema takes too long"):
        schema(holding(pattern)).read(f"<T><p>{'a' * 60_000}</p></T>")


def test_an_optional_empty_element_is_seen():
    read = schema(
        holding('<xs:element name="a" minOccurs="0"><xs:complexType/></xs:element>'),
    )
    assert [
        Filter.parse("/T[a]", read.types).matches(read.read(text)) for text in ("<T><a/></T>", "<T/>")
    ] == [
        True,
        False,
    ]


def test_an_optional_container_that_holds_nothing_is_seen():
    inside = '<xs:complexType><xs:sequence><xs:element name="n" type="xs:int" minOccurs="0"/></xs:sequence>'
    read = schema(holding(f'<xs:element name="a" minOccurs="0">{inside}</xs:complexType></xs:element>'))
    assert kinds(read.type()) == {"a/.?": Presence(), "a/n?": Integer(-(2**31), 2**31 - 1)}
    for text, expected in (("<T><a/></T>", True), ("<T/>", False), ("<T><a><n>3</n></a></T>", True)):
        event = read.read(text)
        assert Filter.parse("/T[a]", read.types).matches(event) is expected
        assert read.write(event).decode() == text
    assert read.type()({"a/n": 3}) == read.read("<T><a><n>3</n></a></T>")
    with pytest.raises(ContentError, match="contains other fields"):
        Filter.parse('/T[a=""]', read.types)


def test_blanks_around_an_enumerated_token_say_nothing():
    token = (
        '<xs:element name="a"><xs:simpleType><xs:restriction base="xs:token">'
        '<xs:enumeration value="hot spot"/>'
        "</xs:restriction></xs:simpleType></xs:element>"
    )
    read = schema(holding(token))
    assert read.read("<T><a>\n hot  spot </a></T>")["a"] == "hot spot"


def test_a_nil_is_missing_where_the_schema_allows_one():
    read = schema(holding('<xs:element name="n" type="xs:int" nillable="true"/>'))
    event = read.read(f'<T {INSTANCE}><n xsi:nil="true"/></T>')
    assert event["n"] is None
    assert b'nil="true"' in read.write(event)
    plain = schema(holding('<xs:element name="n" type="xs:int"/>'))
    with pytest.raises(XmlError, match="T/n: xsi:nil is not allowed here by the schema"):
        plain.read(f'<T {INSTANCE}><n xsi:nil="true"/></T>')


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        ("double", "INF", "INF is not a finite number"),
        ("double", "NaN", "NaN is not a finite number"),
        ("unsignedLong", str(2**64 - 1), "does not fit into a signed 64-bit integer"),
        ("double", "1e999", "1e999 exceeds the range of a double"),
        (
            "decimal",
            "9" * 60_000,
            r"9{40}\.\.\. is a number of 60000 characters; the maximum is 400 digits",
        ),
        (
            "double",
            "0." + "1" * 500,
            r"0\.1{38}\.\.\. is a number of 502 characters; the maximum is 400 digits",
        ),
        ("integer", "9" * 41, r"9{40}\.\.\. is a number of 41 characters; the maximum is 40 digits"),
    ],
    ids=lambda text: text[:12],
)
def test_a_number_that_cannot_be_is_told_why(kind, text, complaint):
    with pytest.raises(XmlError, match=complaint):
        schema(holding(f'<xs:element name="n" type="xs:{kind}"/>')).read(f"<T><n>{text}</n></T>")


def chosen(attributes=""):
    """A schema with a type, one that has more than it and one that has less."""

    def derived(name, way, inner):
        content = f'<xs:{way} base="Base">{inner}</xs:{way}>'
        return (
            f'<xs:complexType name="{name}"><xs:complexContent>{content}</xs:complexContent></xs:complexType>'
        )

    def element(name, kind):
        return f'<xs:sequence><xs:element name="{name}" type="{kind}"/></xs:sequence>'

    return schema(
        f'<xs:complexType name="Base"{attributes}>{element("n", "xs:int")}</xs:complexType>',
        derived("More", "extension", element("m", "xs:int") + '<xs:attribute name="k"/>'),
        derived("Less", "restriction", element("n", "xs:short")),
        holding('<xs:element name="b" type="Base"/>'),
    )


def test_a_type_that_a_document_chooses_has_the_fields_of_the_declared_one_alone():
    read = chosen()
    assert read.read(f'<T {INSTANCE}><b xsi:type="Less"><n>1</n></b></T>')["b/n"] == 1
    for more in ('<b xsi:type="More"><n>1</n><m>2</m></b>', '<b xsi:type="More" k="1"><n>1</n><m>2</m></b>'):
        with pytest.raises(XmlError, match="xsi:type selects 'More'"):
            read.read(f"<T {INSTANCE}>{more}</T>")


def test_an_abstract_type_is_refused_with_the_reason():
    with pytest.raises(SchemaError, match=r"T/b: abstract types .* choose the fields by xsi:type"):
        chosen(' abstract="true"')


def test_a_schema_that_imports_a_missing_one_says_so():
    with pytest.raises(SchemaError, match=r"a required schema is not available: .*missing\.xsd"):
        schema('<xs:import namespace="urn:y" schemaLocation="missing.xsd"/>', holding())


def test_an_attribute_without_a_type_is_a_string_and_a_union_too():
    members = '<xs:simpleType><xs:union memberTypes="xs:int xs:date"/></xs:simpleType>'
    union = f'<xs:element name="u">{members}</xs:element>'
    read = schema(holding(union, attributes='<xs:attribute name="k"/>'))
    assert kinds(read.type()) == {"@k?": String(), "u": String()}


NUMBERS = EventType("T", {"d": Decimal(), "i": Integer()})


@pytest.mark.parametrize("path", ["d", "i"])
def test_a_number_beyond_every_field_compares_as_it_should(path):
    huge = "1" + "0" * 60_000
    assert Filter.parse(f"/T[{path} < {huge}]", NUMBERS) == Filter.everything(NUMBERS)
    assert Filter.parse(f"/T[{path} = {huge}]", NUMBERS).empty
    assert Filter.parse(f"/T[{path} > -{huge}]", NUMBERS) == Filter.everything(NUMBERS)
    assert (NUMBERS[path] < 10**400) == Filter.everything(NUMBERS)


@pytest.mark.parametrize(
    "kind", [Decimal(), Integer(), Enumeration(("a",)), Date(), DateTime(), AreaType(), Boolean()]
)
@pytest.mark.parametrize("text", ["1" * 60_000, "9" * 30_000 + "e9", "-" + "x" * 60_000, "1,1 " * 20_000])
def test_a_complaint_does_not_repeat_a_long_value(kind, text):
    type = EventType("T", {"f": kind})
    with pytest.raises(ContentError) as raised:
        kind.read(text)
    assert len(str(raised.value)) < 200
    with pytest.raises(XmlError) as raised:
        read_xml(f"<T><f>{text}</f></T>", type)
    assert len(str(raised.value)) < 250
    with pytest.raises(FilterError) as raised:
        Filter.parse(f"/T[f < 'x{text[:60_000]}']", type)
    assert len(str(raised.value)) < 400


def test_lists_choices_and_those_who_stand_for_others_are_fields():
    read = schema(
        '<xs:element name="head" abstract="true"/>',
        '<xs:element name="one" substitutionGroup="head" type="xs:int"/>',
        '<xs:element name="two" substitutionGroup="head" type="xs:boolean"/>',
        holding(
            '<xs:element ref="head"/>',
            '<xs:choice><xs:element name="l" type="xs:string"/><xs:element name="r" type="xs:date"/>'
            "</xs:choice>",
            '<xs:element name="codes" type="xs:NMTOKENS"/>',
        ),
    )
    event = read.read("<T><two>1</two><l>x</l><codes> a  b </codes></T>")
    assert event["two"] is True
    assert event["one"] is None
    assert event["codes"] == ("a", "b")
    assert read.write(event) == b"<T><two>true</two><l>x</l><codes>a b</codes></T>"
    assert Filter.parse('/T[codes="b" and two="true" and not(r)]', read.types).matches(event)
    assert not Filter.parse('/T[codes="c"]', read.types).matches(event)


def test_open_content_is_let_through_and_not_asked():
    read = schema(
        holding(
            '<xs:element name="n" type="xs:int"/>',
            '<xs:any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>',
            attributes='<xs:anyAttribute namespace="##other" processContents="lax"/>',
        )
    )
    text = '<T xmlns:x="urn:x" x:k="1"><n>3</n><x:more><x:deep>4</x:deep> text</x:more></T>'
    assert read.read(text) == read.type()(n=3)
    with pytest.raises(XmlError, match="no field 'm'"):
        schema(holding('<xs:element name="n" type="xs:int"/>')).read("<T><n>3</n><m/></T>")
