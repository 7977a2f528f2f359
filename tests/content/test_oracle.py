"""Our answer equals lxml's XPath 1.0 on the event's XML, for generated types, events and subscriptions."""

import os
import re
from random import Random

import elementpath
import pytest
from lxml import etree

from roamcast.content.box.constraint import read_glob, write_glob
from roamcast.content.box.glob import fits
from roamcast.content.field_type import Enumeration, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType, Field
from roamcast.content.xml.document import read_xml, write_xml

from . import generate

BATCH = 400


COMPARISONS = int(os.environ.get("ROAMCAST_ORACLE", "500000"))
"Answers that are compared with lxml at length; `ROAMCAST_ORACLE=5000000` looks further."
EVENTS = 10
"Documents for each subscription, at length."


@pytest.mark.parametrize("batch", range(20))
def test_lxml_gives_the_same_answer(batch):
    r = Random(f"oracle/{batch}")
    answers = set()
    for _ in range(BATCH):
        answers.update(compare_with_lxml(r, generate.any_type(r), 2))
    assert answers == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_lxml_gives_the_same_answer_half_a_million_times(batch):
    r = Random(f"oracle at length/{batch}")
    answers = []
    while len(answers) < COMPARISONS // 10:
        answers += compare_with_lxml(r, generate.repeating_type(r), EVENTS)
    share = sum(answers) / len(answers)
    print(f"{len(answers)} answers compared, {share:.0%} of them yes")
    assert 0.2 < share < 0.8


def compare_with_lxml(r, type, count):
    """The answers of one subscription on some documents, half of them near to what it asks for."""
    text = generate.xpath(r, type, pure=True)
    wanted = Filter.parse(text, type)
    printed = Filter.parse(str(wanted), type)
    answers = []
    for number in range(count):
        event = generate.near(r, type, wanted) if number % 2 else generate.event(r, type)
        expected = bool(etree.fromstring(write_xml(event)).getroottree().xpath(text))
        assert wanted.matches(event) == expected, (text, event, str(wanted))
        assert printed.matches(event) == expected, (text, event, str(wanted))
        answers.append(expected)
    return answers


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
