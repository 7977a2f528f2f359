"""Subscriptions with `$parameters`, and documents whose schema fills in what they leave out."""

from datetime import date
from decimal import Decimal

import pytest
from typer.testing import CliRunner

from roamcast.cli.filters.filter import app
from roamcast.content.errors import ContentError, FilterError
from roamcast.content.field_type import Boolean, Date, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.xml.xsd import XmlSchema
from roamcast.content.xpath import PreparedFilter

ALARM = EventType(
    "alarm", {"level": Integer(), "room": String(), "day": Date(), "drill": Boolean()}, optional=("room",)
)

XSD = b"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="alarm"><xs:complexType>
<xs:sequence><xs:element name="level" type="xs:integer" default="3"/>
<xs:element name="part" minOccurs="0" maxOccurs="9"><xs:complexType>
<xs:attribute name="side" type="xs:string" default="left"/></xs:complexType></xs:element></xs:sequence>
<xs:attribute name="drill" type="xs:boolean" default="false"/>
<xs:attribute name="version" type="xs:string" fixed="1"/></xs:complexType></xs:element></xs:schema>"""


def test_a_parameter_stands_for_a_value():
    text = "/alarm[level>=$level and room=$place]"
    assert Filter.parse(text, ALARM, level=3, place="hall") == (ALARM.level >= 3) & (ALARM.room == "hall")
    assert Filter.parse("/alarm[$day <= day]", ALARM, day=date(2026, 11, 16)) == (
        ALARM.day >= date(2026, 11, 16)
    )
    assert Filter.parse("/alarm[drill=$drill]", ALARM, drill=True) == (ALARM.drill == True)  # noqa: E712
    assert Filter.parse("/alarm[level<$n]", ALARM, n=Decimal("2.5")) == (ALARM.level < 2.5)
    assert Filter.parse("/alarm[contains(room, $word)]", ALARM, word="all") == ALARM.room.contains("all")
    assert Filter.parse("/alarm[room=$places]", ALARM, places=["a", "b"]) == ALARM.room.isin(["a", "b"])
    assert Filter.parse("/alarm[room=$places]", ALARM, places=[]).empty


def test_a_value_is_never_read_as_part_of_the_language():
    nasty = '"] | /alarm[true()'
    assert Filter.parse("/alarm[room=$p]", ALARM, p=nasty) == (ALARM.room == nasty)
    assert Filter.parse("/alarm[room=$p]", ALARM, p="h*") == (ALARM.room == "h*")
    assert Filter.parse("/alarm[lower-case(room)=$p]", ALARM, p="*").matches(
        ALARM(level=1, room="*", day="2026-11-16", drill=False)
    )


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        ("/alarm[level>$level]", {}, r"\$level has no value"),
        ("/alarm[level>$level]", {"level": 1, "lvl": 2}, r"no parameter \$lvl; it has \$level"),
        ("/alarm[level>3]", {"level": 1}, r"no parameter \$level; it has none"),
        ("/alarm[level>$level]", {"level": "high"}, r"\$level: level is an integer; 'high' is not a number"),
        ("/alarm[level>$level]", {"level": True}, r"\$level: .* is not a number"),
        ("/alarm[room=$p]", {"p": 3}, r"\$p: 3 is not a string"),
        ("/alarm[$p]", {"p": 3}, "a value alone is not a test"),
        ("/alarm/$p", {"p": 3}, "can be used only as a value"),
    ],
)
def test_missing_unknown_and_wrong_ones_are_refused_in_one_line(text, values, reason):
    with pytest.raises(FilterError, match=reason) as caught:
        Filter.parse(text, ALARM, **values)
    assert "\n" not in str(caught.value)


def test_a_prepared_filter_knows_its_parameters_and_their_kinds():
    prepared = PreparedFilter("/alarm[level>=$least and (room=$where or starts-with(room, $where))]", ALARM)
    assert prepared.parameters == {"least": ("integer",), "where": ("string",)}
    assert prepared(least=2, where="h") == Filter.parse('/alarm[level>=2 and room="h*"]', ALARM)
    with pytest.raises(FilterError, match="has no value"):
        prepared(least=2)
    with pytest.raises(FilterError, match="has no field 'lvel'"):
        PreparedFilter("/alarm[lvel>=$least]", ALARM)


def test_defaults_are_filled_in_by_choice():
    document = b'<alarm><level/><part/><part side="right"/></alarm>'
    filled = XmlSchema(XSD, defaults=True)
    plain = XmlSchema(XSD)
    event = filled.read(document)
    assert event.to_mapping() == {
        "level": 3,
        "@drill": False,
        "@version": "1",
        "part": [{"@side": "left"}, {"@side": "right"}],
    }
    assert filled.type() is plain.type()
    bare = plain.read(b"<alarm><level>3</level><part/></alarm>")
    assert bare["@drill"] is None
    assert Filter.parse('/alarm[@drill="false" and part/@side="left"]', filled.type()).matches(event)
    with pytest.raises(ContentError, match="level: '' is not an integer"):
        plain.read(document)


def test_the_command_line_takes_parameters_and_fills_in_defaults(tmp_path):
    schema, document = tmp_path / "alarm.xsd", tmp_path / "e.xml"
    schema.write_bytes(XSD)
    document.write_bytes(b"<alarm><level/></alarm>")
    asked = ["match", "--schema", str(schema), "--filter", "/alarm[level=$n]", "--set", "n=3", str(document)]
    assert CliRunner().invoke(app, [*asked, "--defaults"]).output.startswith("yes")
    explained = CliRunner().invoke(app, ["explain", "/alarm[level>$n]", "--set", "n=2"])
    assert "/alarm[level>2]" in explained.output
    wrong = CliRunner().invoke(app, [*asked, "--set", "m=1", "--defaults"])
    assert "no filter has a parameter $m" in str(wrong.exception)
