"""Our answer equals lxml's XPath 1.0 on the event's XML, for generated types, events and subscriptions."""

import re
from random import Random

import elementpath
import pytest
from lxml import etree

from roamcast.content.box.constraint import read_glob, write_glob
from roamcast.content.box.glob import fits
from roamcast.content.filter import Filter
from roamcast.content.kind import Enumeration, String
from roamcast.content.schema import EventType, Field
from roamcast.content.xml.document import read_xml, write_xml

from . import generate

BATCH = 400


@pytest.mark.parametrize("batch", range(20))
def test_lxml_gives_the_same_answer(batch):
    r = Random(f"oracle/{batch}")
    answers = set()
    for _ in range(BATCH):
        type = generate.any_type(r)
        text = generate.xpath(r, type, pure=True)
        wanted = Filter.parse(text, type)
        for event in (generate.event(r, type), generate.near(r, type, wanted)):
            document = etree.fromstring(write_xml(event))
            expected = bool(document.getroottree().xpath(text))
            assert wanted.matches(event) == expected, (text, event, str(wanted))
            assert Filter.parse(str(wanted), type).matches(event) == expected, (text, event, str(wanted))
            answers.add(expected)
    assert answers == {True, False}


WORDY = [String(), Enumeration(("pop", "jazz", "JA"))]


@pytest.mark.parametrize("batch", range(4))
def test_xpath_2_gives_the_same_answer_for_texts_and_their_ends(batch):
    r = Random(f"xpath 2/{batch}")
    answers = set()
    for _ in range(BATCH // 4):
        fields = [Field(f.path, r.choice(WORDY), f.optional) for f in generate.event_type(r).fields]
        type = EventType("T", tuple(fields))
        text = generate.xpath(r, type)
        if "*" in text:
            continue  # the papers' star is no XPath
        wanted = Filter.parse(text, type)
        for event in (generate.event(r, type), generate.near(r, type, wanted)):
            document = etree.fromstring(write_xml(event)).getroottree()
            expected = bool(elementpath.select(document, text, parser=elementpath.XPath2Parser))
            assert wanted.matches(event) == expected, (text, event, str(wanted))
            answers.add(expected)
    assert answers == {True, False}


@pytest.mark.parametrize("batch", range(4))
def test_events_come_back_from_xml_as_they_went(batch):
    r = Random(f"xml/{batch}")
    for _ in range(BATCH):
        type = generate.event_type(r)
        event = generate.event(r, type)
        assert read_xml(write_xml(event), type) == event


def test_stars_mean_what_a_regular_expression_says():
    r = Random("globs")
    met = 0
    for _ in range(4000):
        pieces = [r.choice(["", "a", "b", "ab", "\\", "*"]) for _ in range(r.randint(1, 4))]
        glob = read_glob(write_glob(tuple(pieces)))
        expression = re.compile(".*".join(map(re.escape, pieces)), re.DOTALL)
        text = "".join(r.choice("ab\\*") for _ in range(r.randint(0, 6)))
        assert fits(glob, text) == bool(expression.fullmatch(text)), (pieces, glob, text)
        met += fits(glob, text)
    assert met > 200
