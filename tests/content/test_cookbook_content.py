"""The page about formats that exist: its schemas are read, its documents survive, its subscriptions match."""

import re
from pathlib import Path

import pytest
from lxml import etree

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.xml.xsd import XmlSchema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "cookbook-content.md").read_text()
SECTIONS = [section for section in PAGE.split("\n## ")[1:] if "```xpath" in section]


def parts(section):
    schema, document = re.findall(r"\]\(((?:examples|\.\./scenarios/cap)/[\w.-]+)\)", section)[:2]
    subscriptions = re.search(r"```xpath\n(.*?)```", section, re.S)[1].strip().splitlines()
    load = JsonSchema.load if schema.endswith(".json") else XmlSchema.load
    return load(DOCS / schema), (DOCS / document).read_bytes(), subscriptions


def test_there_are_six_formats():
    assert len(SECTIONS) == 6


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n")[0])
def test_a_format_that_exists(section):
    schema, document, subscriptions = parts(section)
    event = schema.read(document)
    assert schema.read(schema.write(event)) == event
    assert len(subscriptions) == 3
    for text in subscriptions:
        wanted = Filter.parse(text, schema.types)
        assert wanted.matches(event), text
        assert Filter.parse(str(wanted), schema.types) == wanted
        other = wanted.counterexample()
        assert other is not None and not wanted.matches(other)
        assert (~wanted).matches(other)


def test_a_document_of_another_format_is_told_which_types_are_known():
    schema = parts(SECTIONS[0])[0]
    with pytest.raises(ContentError, match="no event type is called 'gpx'; known: alert, info"):
        schema.read((DOCS / "examples/walk.gpx").read_bytes())


@pytest.mark.parametrize(
    "section", [s for s in SECTIONS if ".json" not in s], ids=lambda section: section.split("\n")[0]
)
def test_lxml_finds_the_same_without_namespaces_and_order_of_time(section):
    _, document, subscriptions = parts(section)
    root = etree.fromstring(document)
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
        for name, value in list(element.attrib.items()):
            element.attrib[etree.QName(name).localname] = value
    asked = [text for text in subscriptions if not re.search("T0|T1|PT|lower-case|within|intersects", text)]
    assert asked
    for text in asked:
        assert root.getroottree().xpath(text), text
