"""Elements that repeat: what a subscription asks of them, told on an alert with two parts."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.declare import declare_type, write_type
from roamcast.content.errors import CodecError, ContentError, FilterError
from roamcast.content.field_type import Integer, String
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.match.repeating import RecordsIndex
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.xsd import XmlSchema

from . import generate

CAP_FILES = Path(__file__).parents[2] / "scenarios/cap"
CAP = XmlSchema.load(CAP_FILES / "cap-1.2.xsd")
ALERT = CAP.type("alert")
FLOOD = CAP.read((CAP_FILES / "flood.cap.xml").read_bytes())


def wanted(text):
    return Filter.parse(text, ALERT)


def test_two_tests_may_be_met_by_two_records_and_brackets_ask_for_one():
    apart = wanted('/alert[info/severity="Extreme" and info/urgency="Immediate"]')
    together = wanted('/alert[info[severity="Extreme" and urgency="Immediate"]]')
    assert apart.matches(FLOOD)
    assert not together.matches(FLOOD)
    assert apart.covers(together)
    assert not together.covers(apart)
    assert (apart & ~together).example() is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('/alert[code="region:upper"]', True),
        ('/alert[code!="region:upper"]', True),  # another code is
        ('/alert[not(code="region:upper")]', False),  # none is
        ('/alert[info/category="Geo" and not(info/category="Met")]', True),
        ("/alert[info/area/geocode]", True),
        ("/alert[not(info/resource)]", True),
        ('/alert/info[urgency="Immediate"]/area[areaDesc="Long Bridge"]', True),
        ('/alert/info[urgency="Expected"]/area[areaDesc="Long Bridge"]', False),
        ('/alert[info[event="Flood"]/parameter[valueName="level"]/value="7.31"]', True),
        ('/alert[info[contains(event, "Bridge")]]', True),
        ('/alert[sent>"2026-11-16T05:39:59Z" and sent<="2026-11-16T06:40:00+01:00"]', True),
        ('/alert[info/expires<"2026-11-16T17:00:00Z"]', False),
    ],
)
def test_what_is_asked_of_an_alert(text, expected):
    assert wanted(text).matches(FLOOD) is expected
    assert Filter.parse(str(wanted(text)), ALERT) == wanted(text)
    assert Filter.from_bytes(wanted(text).to_bytes(), ALERT) == wanted(text)


def test_a_function_on_several_is_refused_since_xpath_looks_at_the_first():
    with pytest.raises(FilterError, match="cannot be applied to a repeated element"):
        wanted('/alert[contains(info/event, "Flood")]')


def test_the_same_in_python():
    assert (ALERT.info.severity == "Extreme") == wanted('/alert[info/severity="Extreme"]')
    assert (ALERT.code == "a") == wanted('/alert[code="a"]')
    assert ALERT.info.area.geocode.exists() == wanted("/alert[info/area/geocode]")
    assert ALERT.info.area.areaDesc.contains("Mill").matches(FLOOD)
    together = ALERT.info.some(lambda info: (info.severity == "Extreme") & (info.urgency == "Immediate"))
    assert together == wanted('/alert[info[severity="Extreme" and urgency="Immediate"]]')
    asked = ALERT.sent.between("2026-11-16T00:00:00Z", "2026-11-16T23:59:59Z")
    assert asked.matches(FLOOD)
    with pytest.raises(ContentError, match="is not a repeated element"):
        ALERT.sent.some(lambda sent: sent.exists())


def test_records_are_events_and_plain_ones_are_values():
    assert FLOOD["code"] == ("profile:river:1", "region:upper")
    assert [info["event"] for info in FLOOD["info"]] == ["Flood", "Bridge closed"]
    assert ALERT(FLOOD.to_mapping()) == FLOOD
    assert FLOOD.from_json(FLOOD.to_json(), ALERT) == FLOOD
    assert CAP.read(CAP.write(FLOOD)) == FLOOD
    assert decode_event(encode_event(FLOOD), ALERT) == FLOOD
    with pytest.raises(ContentError, match="is a repeated element: 'info/event' has no single value"):
        FLOOD["info/event"]


def test_a_repeated_element_is_declared_in_plain_data():
    fields = {"id": "integer", "tag": {"kind": "records", "fields": {".": "string"}, "least": 1}}
    type = declare_type("note", fields)
    assert write_type(type) == fields
    assert declare_type("note", write_type(type)) is type
    assert Filter.parse('/note[tag="x"]', type).matches(type(id=1, tag=["y", "x"]))
    with pytest.raises(ContentError, match="'tag' is missing"):
        type(id=1)
    for wrong, complaint in (
        ({"kind": "records"}, "table 'fields'"),
        ({"kind": "records", "fields": {".": "string"}, "least": -1}, "'least' must be an integer"),
        ({"kind": "records", "fields": {}, "most": 3}, "'most' is not a key"),
        ({"kind": "records", "fields": {}}, "without fields"),
    ):
        with pytest.raises(ContentError, match=complaint):
            declare_type("note", {"tag": wrong})


def test_records_inside_records_end_somewhere():
    record = EventType("r", (Field("n", Integer()),))
    with pytest.raises(ContentError, match="is nested in more than 16 repeated elements"):
        for _ in range(20):
            record = EventType("r", (Field("r", RecordList(record)),))


def test_more_records_than_bytes_are_refused_at_once():
    type = EventType("T", (Field("r", RecordList(EventType("r", (Field(".", String()),)))),))
    with pytest.raises(CodecError, match="end too early"):
        decode_event(type.fingerprint + b"\xff\xff\x03", type)


def test_the_index_finds_what_each_filter_says():
    r = Random("index of records")
    for _ in range(30):
        type = generate.repeating_type(r)
        index = MatchIndex()
        filters = {number: generate.filter(r, type) for number in range(40)}
        for number, each in filters.items():
            index.add(number, each)
        for gone in r.sample(range(40), 10):
            index.remove(gone)
            del filters[gone]
        for each in list(filters.values())[:10]:
            event = generate.near(r, type, each)
            assert set(index.match(event)) == {n for n, f in filters.items() if f.matches(event)}


moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))


@given(moments, moments)
def test_points_in_time_are_ordered_as_they_are(one, other):
    type = EventType("T", {"t": DateTime()})
    for value in (one, other):
        assert type(t=value)["t"] == value
        assert DateTime().read(DateTime().write(DateTime().store(value))) == DateTime().store(value)
    assert (type.t < other).matches(type(t=one)) == (one < other)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2005-03-08T12:00:00+01:00", "2005-03-08T11:00:00Z"),
        ("2005-03-08T24:00:00", "2005-03-09T00:00:00Z"),
        ("2005-03-08T12:00:00.5", "2005-03-08T12:00:00.500000Z"),
    ],
)
def test_one_point_in_time_may_be_written_in_several_ways(text, same):
    assert DateTime().read(text) == DateTime().read(same)


@pytest.mark.parametrize(
    "text", ["2005-03-08", "12:00", "2005-02-30T00:00:00Z", "2005-03-08T25:00:00", "x" * 99]
)
def test_what_is_no_point_in_time_is_refused(text):
    with pytest.raises(ContentError, match=r"is not a (point in time|valid date and time)"):
        DateTime().read(text)


@given(st.timedeltas(timedelta(days=-(10**6)), timedelta(days=10**6)))
def test_spans_of_time_are_written_and_read(span):
    stored = Duration().store(span)
    assert Duration().read(Duration().write(stored)) == stored
    assert Duration().load(stored) == span


def test_spans_of_time_are_ordered_a_month_by_its_average():
    read = Duration().read
    assert read("P1D") == read("PT24H") == read("PT86400S") > read("-P1D")
    assert read("P30D") < read("P1M") < read("P31D")
    assert read("P1Y") == read("P12M")
    for wrong in ("P", "PT", "P1DT", "1D", "P1H", "P-1D", ""):
        with pytest.raises(ContentError, match="not a duration"):
            read(wrong)


def test_those_who_want_the_same_come_and_go_one_by_one():
    r = Random("shared")
    for number in range(8):
        type = generate.repeating_type(r) if number % 2 else generate.event_type(r)
        index, wanted = MatchIndex(), {}
        pool = [generate.filter(r, type) for _ in range(12)]
        for step in range(80):
            key = r.randrange(40)
            if key in wanted and r.random() < 0.5:
                index.remove(key)
                del wanted[key]
            else:
                wanted[key] = r.choice(pool)
                index.add(key, wanted[key])
            if step % 10 == 9:
                event = generate.near(r, type, r.choice(pool))
                assert set(index.match(event)) == {k for k, each in wanted.items() if each.matches(event)}


def test_an_index_of_records_keeps_nothing_of_those_who_have_gone():
    track = EventType("track", {"n": Integer(), "by": String()})
    album = EventType("album", (Field("track", RecordList(track)), Field("title", String())))
    index = RecordsIndex(album)
    wanted = [
        Filter.parse(f"/album[{text}]", album)
        for text in (
            "track[n > 3]",
            "track[n > 3]",
            'title = "a"',
            "track[n < 0] and track[n > 9]",
            "not(track)",
        )
    ]
    for number, filter in enumerate(wanted):
        index.add(number, filter)
    event = album(title="a", track=[{"n": 5, "by": "x"}])
    assert index.match(event) == [0, 1, 2] and index.match(album(title="b")) == [4]
    for number in (1, 0, 2, 3):
        index.remove(number)
    assert index.match(event) == [] and index.match(album(title="a")) == [4]
    index.remove(4)
    assert index.bytes() == 0 and index.match(album(title="a")) == []
    assert index.add("again", wanted[4]) in range(5)  # numbers are used again
