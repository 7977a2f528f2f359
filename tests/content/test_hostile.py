"""Documents and subscriptions that mean harm are refused quickly, with a clear word, in little memory."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.codec import MAX_BYTES, decode_event, decode_filter, encode_event
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.event import Event
from roamcast.content.field_type import String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.xml.document import MAX_XML, read_xml
from roamcast.content.xml.errors import SchemaError, XmlError
from roamcast.content.xml.xsd import XmlSchema

SCHEMA = XmlSchema.load(Path(__file__).parents[2] / "docs/examples/cd.xsd")
CD = SCHEMA.type()
DEEP = EventType("CD", {"/".join(["CD"] * depth): String() for depth in (200,)})

BOMB = b'<!DOCTYPE CD [<!ENTITY l0 "lol">' + b"".join(
    b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10)
)
DOCUMENTS = {
    "an entity bomb": (BOMB + b"]><CD><composer>&l9;</composer></CD>", "DOCTYPE"),
    "an external entity": (
        b'<!DOCTYPE CD [<!ENTITY x SYSTEM "file:///etc/passwd">]><CD><composer>&x;</composer></CD>',
        "DOCTYPE",
    ),
    "an external document type": (b'<!DOCTYPE CD SYSTEM "http://example.org/cd.dtd"><CD/>', "DOCTYPE"),
    "an inclusion": (
        b'<CD xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="/etc/passwd"/></CD>',
        "namespace",
    ),
    "an unknown entity": (b"<CD><composer>&x;</composer></CD>", "Entity 'x' not defined"),
    "100 MB of text": (b"<CD><composer>" + b"x" * 100_000_000, "longer than"),
    "depth 10000": (b"<CD>" * 10_000, "has no field 'CD'"),
    "a million attributes": (b"<CD " + b" ".join(b'a%d="1"' % n for n in range(80_000)) + b"/>", "no field"),
    "an unclosed element": (b"<CD><composer>", "not XML"),
    "nothing": (b"", "not XML"),
    "Latin-1": ("<CD><composer>é</composer></CD>".encode("latin-1"), "not in UTF-8: byte 15 is 0xe9"),
    "declared Latin-1": (b'<?xml version="1.0" encoding="ISO-8859-1"?><CD/>', "the encoding ISO-8859-1"),
    "UTF-7": (b'<?xml version="1.0" encoding="UTF-7"?><CD/>', "the encoding UTF-7"),
    "UTF-32": ("<CD/>".encode("utf-32"), "not XML"),
    "UTF-16 without mark": ("<CD/>".encode("utf-16-le"), "not XML"),
    "a zero byte": (b"<CD>\0</CD>", "not XML"),
    "half a surrogate": ("<CD>\ud800</CD>", "not XML"),
    "a second root": (b"<CD/><CD/>", "missing|not XML"),
    "text between elements": (b"<CD>x<category>jazz</category></CD>", "text between elements"),
    "an element twice": (b"<CD><price>12</price><price>12</price></CD>", "occurs twice"),
    "a huge number": (b"<CD><price>1" + b"0" * 5000 + b"</price></CD>", "the maximum is 400 digits"),
    "an infinite number": (b"<CD><price>INF</price></CD>", "is not a finite number"),
    "a name with colons": (
        b"<?a: b?><CD><category>pop</category><composer/><price>12</price></CD>",
        "colons are forbidden",
    ),
    "a nil": (b'<CD xmlns:x="http://www.w3.org/2001/XMLSchema-instance" x:nil="1"/>', "nil"),
    "another type": (b"<DVD/>", "no event type is called 'DVD'; known: CD"),
    "wrong order": (
        b"<CD><composer>D</composer><category>jazz</category><price>12</price></CD>",
        "not valid against the schema",
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_refused(name):
    data, complaint = DOCUMENTS[name]
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ContentError, match=complaint) as raised:
        SCHEMA.read(data)
    assert time.process_time() - start < 2
    assert tracemalloc.get_traced_memory()[1] < 20 * MAX_XML
    tracemalloc.stop()
    assert len(str(raised.value)) < 500


def test_deep_documents_are_refused_even_where_the_type_is_deep():
    assert read_xml(b"<CD>" * 201 + b"x" + b"</CD>" * 201, DEEP).values == ("x",)
    with pytest.raises(XmlError):
        read_xml(b"<CD>" * 10_000, DEEP)


def test_utf_16_with_its_mark_is_read():
    text = '<?xml version="1.0" encoding="UTF-16"?>'
    text += "<CD><category>jazz</category><composer>é</composer><price>12</price></CD>"
    assert SCHEMA.read(text.encode("utf-16"))["composer"] == "é"


XS = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">%s</xs:schema>'
ELEMENT = '<xs:element name="T"><xs:complexType>%s</xs:complexType></xs:element>'


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ("<xs:schema", "not an XML Schema"),
        ("<html/>", "not an XML Schema"),
        (XS % '<xs:element name="n" type="xs:int"/>', "no global element with child elements"),
        (XS % ELEMENT % '<xs:sequence><xs:element ref="T" minOccurs="0"/></xs:sequence>', "recursive"),
        (
            XS % '<xs:element name="T"><xs:complexType mixed="true"><xs:sequence><xs:element name="b"/>'
            "</xs:sequence></xs:complexType></xs:element>",
            "T: mixed content",
        ),
        (XS % '<xs:include schemaLocation="/etc/passwd"/>', "not available"),
        ('<!DOCTYPE a [<!ENTITY x "y">]>' + XS % "", "not an XML Schema"),
    ],
)
def test_a_schema_that_describes_no_event_is_refused_by_name(schema, complaint):
    with pytest.raises(SchemaError, match=complaint):
        XmlSchema(schema.encode())


def test_a_schema_with_everything():
    text = XS.replace("<xs:schema", '<xs:schema targetNamespace="urn:x" elementFormDefault="qualified"') % (
        ELEMENT
        % """<xs:all><xs:element name="box" minOccurs="1"><xs:complexType><xs:sequence>
          <xs:element name="n" minOccurs="0"><xs:simpleType><xs:restriction base="xs:short">
            <xs:minExclusive value="3"/><xs:maxExclusive value="9"/></xs:restriction></xs:simpleType>
          </xs:element></xs:sequence></xs:complexType></xs:element>
          <xs:element name="price"><xs:complexType><xs:simpleContent><xs:extension base="xs:decimal">
            <xs:attribute name="unit" type="xs:string" use="required"/></xs:extension></xs:simpleContent>
            </xs:complexType></xs:element>
          <xs:element name="when" type="xs:dateTime" minOccurs="0"/><xs:element name="ok" type="xs:boolean"/>
          </xs:all>"""
    )
    schema = XmlSchema(text.encode())
    T = schema.type()
    assert [f.path for f in T.fields] == ["box/n", "price/@unit", "price", "when", "ok"]
    assert T.fields[0].kind.bounds() == (4, 8)
    event = T({"price": 3.5, "price/@unit": "EUR", "ok": True})
    assert schema.read(schema.write(event)) == event
    assert b"<box/>" in schema.write(event)
    assert T.box.exists() == Filter.everything(T)
    assert (T.price.unit == "EUR").matches(event)


TAGS = r"""
    <CD> </CD> <CD id="5"> <category> jazz </category> <composer> x </composer> <price> 12 </price>
    &amp; &lt; &x; <![CDATA[ ]]> <!-- --> <?pi ?> <!DOCTYPE CD> <CD/> <x:y> " ' & <
    """
tags = st.sampled_from(TAGS.split())


@settings(max_examples=300)
@given(st.lists(tags, max_size=16).map("".join) | st.binary(max_size=60) | st.text(max_size=60))
def test_any_document_is_an_event_or_a_clear_refusal(data):
    try:
        event = SCHEMA.read(data)
    except ContentError:
        return
    assert SCHEMA.read(SCHEMA.write(event)) == event


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_json_is_an_event_or_a_clear_refusal(text):
    with pytest.raises(ContentError):
        Event.from_json(text, CD)
    with pytest.raises(ContentError):
        Event.from_json("[" * 100_000, CD)


@pytest.mark.parametrize("decode", [decode_event, decode_filter])
def test_bytes_beyond_the_limit_are_refused_before_they_are_read(decode):
    with pytest.raises(CodecError, match=f"{MAX_BYTES + 1} bytes; the maximum is {MAX_BYTES}"):
        decode(bytes(MAX_BYTES + 1), CD)
    with pytest.raises(CodecError) as raised:
        decode(bytes(MAX_BYTES), CD)
    assert "the maximum is" not in str(raised.value)


def test_what_needs_too_many_bytes_is_not_written():
    long = EventType("note", {"text": String()})
    assert len(encode_event(long(text="x" * 65_000))) <= MAX_BYTES
    with pytest.raises(CodecError, match="the maximum is"):
        encode_event(long(text="x" * MAX_BYTES))
