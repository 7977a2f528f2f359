"""What is seldom found in schemas and documents, each by itself."""

import json

import pytest

from roamcast.content.errors import ContentError
from roamcast.content.field_type import Boolean, Date, Decimal, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.json.errors import JsonError
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.schema import EventType
from roamcast.content.xml.document import read_file, read_xml
from roamcast.content.xml.errors import SchemaError, XmlError
from roamcast.content.xml.event_target import MAX_DEPTH
from roamcast.content.xml.xsd import XmlSchema

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"'
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
INT = '<xs:element name="n" type="xs:int"/>'


def schema(*parts, attributes=""):
    return XmlSchema(f"<xs:schema {XS} {attributes}>{''.join(parts)}</xs:schema>".encode())


def holding(*elements, name="T", attributes=""):
    inside = f"<xs:sequence>{''.join(elements)}</xs:sequence>{attributes}"
    return f'<xs:element name="{name}"><xs:complexType>{inside}</xs:complexType></xs:element>'


def restricted(name, base, **facets):
    text = "".join(f'<xs:enumeration value="{value}"/>' for value in facets.pop("listed", ()))
    text += "".join(f'<xs:{facet} value="{value}"/>' for facet, value in facets.items())
    return (
        f'<xs:element name="{name}"><xs:simpleType><xs:restriction base="xs:{base}">{text}'
        "</xs:restriction></xs:simpleType></xs:element>"
    )


@pytest.mark.parametrize(
    ("element", "bounds"),
    [
        (restricted("n", "int", listed=("5", "3", "9")), (3, 9)),
        (restricted("n", "decimal", listed=("2.5", "1")), (1.0, 2.5)),
        (restricted("n", "int", minExclusive=3, maxExclusive=9), (4, 8)),
        (restricted("n", "int", minInclusive=3, maxInclusive=9), (3, 9)),
        (restricted("n", "unsignedByte"), (0, 255)),
        (restricted("n", "negativeInteger", minInclusive=-5), (-5, -1)),
    ],
)
def test_a_number_lies_between_its_facets_and_around_its_listed_values(element, bounds):
    assert schema(holding(element)).type().fields[0].kind.bounds() == bounds


def test_a_date_lies_between_its_facets():
    result = restricted("n", "date", minInclusive="2001-02-03", maxExclusive="2001-02-05")
    kind = schema(holding(result)).type().fields[0].kind
    assert isinstance(kind, Date)
    assert [kind.write(end) for end in kind.bounds()] == ["2001-02-03", "2001-02-04"]


def test_what_may_never_stand_is_not_read():
    found = schema(
        holding(
            '<xs:element name="gone" type="xs:int" minOccurs="0" maxOccurs="0"/>',
            '<xs:sequence minOccurs="0" maxOccurs="0"><xs:element name="m" type="xs:int"/></xs:sequence>',
            INT,
            attributes='<xs:attribute name="k" type="xs:int" use="prohibited"/><xs:attribute name="l"/>',
        )
    ).type()
    assert [field.path for field in found.fields] == ["@l", "n"]


def test_one_name_is_one_thing():
    twice = schema(holding(INT, '<xs:element name="m" type="xs:int"/>', INT)).type()
    assert [(field.path, field.kind.name) for field in twice.fields] == [("n", "records"), ("m", "integer")]
    assert twice.fields[0].kind.least == 1
    later = f'<xs:sequence><xs:element name="m" type="xs:int"/>{INT}</xs:sequence>'
    choice = f"<xs:choice>{INT}{later}</xs:choice>"
    either = schema(holding(choice)).type()
    assert either.fields[0].kind.least == 0
    with pytest.raises(SchemaError, match="same name but with different types"):
        schema(holding(f'<xs:choice>{INT}<xs:element name="n" type="xs:string"/></xs:choice>'))


def test_a_repeated_value_is_there_in_each_record():
    many = '<xs:element name="k" type="xs:int" maxOccurs="unbounded"/>'
    [field] = schema(holding(many)).type().fields
    assert [(each.path, each.optional) for each in field.kind.record.fields] == [(".", False)]


@pytest.mark.parametrize(("least", "always"), [(0, ("a", "a/b")), (1, ())])
def test_elements_are_told_by_what_must_be_in_them_or_by_themselves(least, always):
    number = f'<xs:element name="n" type="xs:int" minOccurs="{least}"/>'
    inner = holding(number, name="b")
    outer = holding(inner, name="a")
    found = schema(holding(outer)).type()
    assert found.always == always and [each.path for each in found.fields] == ["a/b/n"]


def two_namespaces(tmp_path, inside, attributes=""):
    (tmp_path / "other.xsd").write_text(
        f'<xs:schema {XS} targetNamespace="urn:o">{INT}<xs:attribute name="k" type="xs:int"/></xs:schema>'
    )
    path = tmp_path / "one.xsd"
    path.write_text(
        f'<xs:schema {XS} xmlns:o="urn:o"><xs:import namespace="urn:o" schemaLocation="other.xsd"/>'
        f"{holding(inside, attributes=attributes)}</xs:schema>"
    )
    return path


def test_one_name_of_two_namespaces_is_refused(tmp_path):
    alone = XmlSchema.load(two_namespaces(tmp_path, '<xs:element ref="o:n"/>', '<xs:attribute ref="o:k"/>'))
    event = alone.read('<T xmlns:o="urn:o" o:k="3"><o:n>4</o:n></T>')
    assert (event["n"], event["@k"]) == (4, 3) and alone.read(alone.write(event)) == event
    with pytest.raises(SchemaError, match="T/n: elements of two namespaces have this name"):
        XmlSchema.load(two_namespaces(tmp_path, f'{INT}<xs:element ref="o:n"/>'))
    both = '<xs:attribute ref="o:k"/><xs:attribute name="k" type="xs:int"/>'
    with pytest.raises(SchemaError, match="T/@k: attributes of two namespaces have this name"):
        XmlSchema.load(two_namespaces(tmp_path, INT, both))


def test_lists_in_attributes_and_elements_are_written_with_blanks():
    whole = '<xs:simpleType name="ints"><xs:list itemType="xs:int"/></xs:simpleType>'
    read = schema(
        whole,
        holding('<xs:element name="l" type="ints"/>', attributes='<xs:attribute name="k" type="ints"/>'),
    )
    event = read.read('<T k=" 1  2 "><l>3 4\n5</l></T>')
    assert (event["@k"], event["l"]) == ((1, 2), (3, 4, 5))
    assert read.write(event) == b'<T k="1 2"><l>3 4 5</l></T>'
    assert read.write(read.read("<T><l>7</l></T>")) == b"<T><l>7</l></T>"


def test_an_element_that_may_be_nil_says_so_and_what_it_holds_is_missing():
    inner = f'<xs:complexType><xs:sequence>{INT}</xs:sequence><xs:attribute name="k"/></xs:complexType>'
    read = schema(
        holding(
            f'<xs:element name="a" nillable="true">{inner}</xs:element>',
            '<xs:element name="b" type="xs:int" nillable="true"/>',
        )
    )
    full = read.read("<T><a><n>3</n></a><b>4</b></T>")
    assert (full["a/n"], full["b"]) == (3, 4) and read.write(full) == b"<T><a><n>3</n></a><b>4</b></T>"
    nil = read.read(f'<T {XSI}><a xsi:nil="true"/><b xsi:nil="true"/></T>')
    assert (nil["a/n"], nil["b"]) == (None, None)
    assert not Filter.parse("/T[b]", read.types).matches(nil)
    with pytest.raises(XmlError, match="xsi:nil is not allowed here by the schema"):
        read.read(f'<T {XSI} xsi:nil="true"><a><n>3</n></a><b>4</b></T>')


def test_an_element_without_content_that_would_read_as_missing_is_refused():
    type = EventType("t", {"a/b": String(), "n": Integer()}, optional=("a/b",))
    assert read_xml("<t><n>3</n></t>", type)["a/b"] is None
    with pytest.raises(XmlError, match="t/a: an optional element without content"):
        read_xml("<t><a/><n>3</n></t>", type)
    with pytest.raises(XmlError, match="not XML"):
        read_xml("", type)


def test_elements_lie_so_deep():
    def nested(depth):
        return EventType("t", {"/".join(["a"] * (depth - 1)): Integer()})

    def document(depth):
        return f"<t>{'<a>' * (depth - 1)}3{'</a>' * (depth - 1)}</t>"

    assert read_xml(document(MAX_DEPTH), nested(MAX_DEPTH)).values == (3,)
    with pytest.raises(XmlError, match=f"elements nested deeper than {MAX_DEPTH}"):
        read_xml(document(MAX_DEPTH + 1), nested(MAX_DEPTH + 1))


def test_a_document_on_disk_that_is_not_there_is_named(tmp_path):
    with pytest.raises(XmlError, match=r"none\.xml: cannot be read: No such file"):
        read_file(tmp_path / "none.xml")
    (tmp_path / "some.xml").write_bytes(b"<a/>")
    assert read_file(tmp_path / "some.xml") == b"<a/>"


def test_the_first_event_that_is_a_document_is_written_or_the_first_with_the_reason():
    strict = '<xs:element name="n"><xs:simpleType><xs:restriction base="xs:int"><xs:pattern value="[0-9]"/>'
    read = schema(holding(strict + "</xs:restriction></xs:simpleType></xs:element>"))
    type = read.type()
    assert read.write_first([type(n=10), type(n=3), type(n=4)]) == (b"<T><n>3</n></T>", "")
    result, reason = read.write_first([type(n=10), type(n=11)])
    assert result == b"<T><n>10</n></T>" and "not valid against the schema" in reason
    assert read.write_first([]) is None
    both = JsonSchema(json.dumps({"properties": {"n": {"type": "integer", "multipleOf": 5}}}))
    numbers = [both.type()(n=n) for n in (3, 10, 5)]
    assert both.write_first(numbers) == (b'{"n":10}', "")
    result, reason = both.write_first(numbers[:1])
    assert result == b'{"n":3}' and "not valid against the schema: n" in reason


def of(properties, **more):
    return json.dumps({"type": "object", "properties": properties, **more})


def test_what_json_schema_says_of_properties_by_true_by_nothing_and_by_words():
    found = JsonSchema(
        of({"a": True, "b": {}, "c": {"type": "boolean"}, "d": {"type": "integer"}}, required=["c", "d"])
    ).type()
    assert [(each.path, each.kind, each.optional) for each in found.fields] == [
        ("c", Boolean(), False),
        ("d", Integer(), False),
    ]


def items(result):
    return of({"a": {"type": "array", "items": result}})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (of({"a": {"$dynamicRef": "#x"}}), r"#/properties/a: \$dynamicRef is not supported"),
        (items({"type": "object", "properties": {}}), "the objects of an array must have properties"),
        (of({"a": {"type": "string", "pattern": "("}}), r"'\(' is not a 'regex'"),
        (of({"a": {"type": "array", "items": True}}), "declared by 'items'"),
        (items({"type": ["string", "null"]}), "and not null"),
        (of({"a": {"enum": [{"x": 1}], "type": "integer"}}), "not of type 'integer'"),
        (of({}, title="3"), None),
    ],
)
def test_what_json_schema_may_not_say(text, reason):
    if reason is None:
        assert JsonSchema(text, name="told").type().name == "told"
        return
    with pytest.raises(SchemaError, match=reason):
        JsonSchema(text)


def deep(depth):
    document = {"type": "integer"}
    for _ in range(depth):
        document = {"type": "object", "properties": {"a": document}, "required": ["a"]}
    return json.dumps(document)


def test_objects_lie_so_deep():
    assert len(JsonSchema(deep(60)).type().fields[0].steps) == 60
    with pytest.raises(SchemaError, match="deep"):
        JsonSchema(deep(300))


def test_what_is_there_by_itself_is_an_object():
    schema_ = JsonSchema(of({"a": {"type": "object"}}))
    assert schema_.read('{"a": {}}')["a"] is True and schema_.read("{}")["a"] is None
    assert schema_.write(schema_.read('{"a": {"x": 3}}')) == b'{"a":{}}'
    with pytest.raises(JsonError, match="a: expected an object, not '3'"):
        schema_.read('{"a": 3}')


def test_a_decimal_is_told_by_its_digits():
    for wrong in ("INF", "NaN", "0x1", "", "1e", "--1"):
        with pytest.raises(ContentError):
            Decimal().read(wrong)
    assert [Decimal().read(text) for text in (" 1.5\n", "+.5", "-2.", "1E2")] == [1.5, 0.5, -2.0, 100.0]
