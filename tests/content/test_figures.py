"""The examples of the papers, as they stand there."""

from pathlib import Path

import pytest

from roamcast.content.filter import Filter
from roamcast.content.xml.xsd import XmlSchema

SCHEMA = XmlSchema.load(Path(__file__).parents[2] / "docs/examples/cd.xsd")
CD = SCHEMA.type("CD")

FIGURE_5 = {
    1: '/CD[category="jazz" and price<"20" and price>"15"]',
    2: '/CD[category="pop"][composer="Harrison"]',
    3: '/CD[category="jazz" and price<"20" and price>"10"]',
    4: '/CD[category!="jazz"]',
    5: '/CD[composer="Davis"] |/CD[category="pop"]',
}


def wanted(number):
    return Filter.parse(FIGURE_5[number], CD)


def test_figure_3_the_schema_gives_its_elements_and_attributes_in_order():
    assert [field.path for field in CD.fields] == ["@id", "@timestamp", "category", "composer", "price"]
    assert [field.kind.name for field in CD.fields] == ["integer", "date", "enumeration", "string", "decimal"]


def test_figure_4_an_instance_is_read_and_written():
    text = b'<CD id="1" timestamp="2004-03-24">'
    text += b"<category>jazz</category><composer>Evans</composer><price>12</price></CD>"
    event = SCHEMA.read(text)
    assert event.to_mapping()["composer"] == "Evans"
    assert SCHEMA.write(event) == text


@pytest.mark.parametrize(
    ("number", "normal"),
    [
        (1, '/CD[category="jazz" and price>15 and price<20]'),
        (2, '/CD[category="pop" and composer="Harrison"]'),
        (3, '/CD[category="jazz" and price>10 and price<20]'),
        (4, '/CD[category="pop" or category="classic"]'),
        (5, '/CD[category="pop"] | /CD[composer="Davis"]'),
    ],
)
def test_figure_5_normal_forms(number, normal):
    assert str(wanted(number)) == normal


def test_figure_5_relations():
    assert wanted(3).covers(wanted(1))
    assert not wanted(1).covers(wanted(3))
    assert wanted(4).covers(wanted(2))
    assert wanted(5).covers(wanted(2))
    assert not wanted(4).intersects(wanted(1))
    assert len(wanted(5).conjunctions) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('/CD[price="12.0"]', True),
        ('/CD["12.00">=price]', True),
        ("/CD[price!='12']", False),
        ("/CD[@timestamp<'2005-03-09']", True),
        ("/CD[@timestamp>'2005-03-08' or @timestamp<'2005-03-08']", False),
        ("/CD[composer='D*s']", True),
        ("/CD[composer='*a*i*']", True),
        ("/CD[composer='D*v']", False),
        ("/CD[composer!='D*']", False),
        ("/CD[category='j*']", True),
        (r"/CD[composer='\*Davis']", False),
        ("/CD[ends-with(composer, 'vis')]", True),
        ("/CD[ends-with(composer, 'xDavis')]", False),
    ],
)
def test_what_the_papers_have_beyond_xpath_1(text, expected):
    event = CD({"@timestamp": "2005-03-08", "category": "jazz", "composer": "Davis", "price": 12})
    assert Filter.parse(text, CD).matches(event) == expected
    assert Filter.parse(str(Filter.parse(text, CD)), CD).matches(event) == expected
