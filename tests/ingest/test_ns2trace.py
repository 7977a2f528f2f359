"""An ns-2 run becomes our facts, whatever its trace's format, and bad lines are kept apart."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.ingest.assembly import assemble
from roamcast.ingest.description import TraceDescription
from roamcast.ingest.file_parts import BadLine, FilePart, IngestError, split
from roamcast.ingest.readers.ns2trace import TraceRecord, parse, read
from roamcast.ingest.transmissions import LinkRates
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import measure, metric_input
from validation.ns2 import read_unicast_trace

TRACES = Path(__file__).parent / "traces"
OLD, NEW = (TRACES / f"line-{form}.tr" for form in ("old", "new"))


def facts(path, **result):
    return assemble(str(path), read(FilePart(str(path))), TraceDescription(**result)).facts


def rows(found, table):
    return found[table].to_pylist()


def test_both_formats_of_a_run_tell_the_same_facts():
    old, new = facts(OLD), facts(NEW)
    for table in TABLES.keys() - {"legs"}:  # the old format does not say where those are who stand still
        assert rows(old, table) == rows(new, table), table
    assert len(rows(new, "transmissions")) == 20
    assert not rows(old, "legs")


@pytest.mark.parametrize(
    ("routing", "traffic"),
    [("AODV", "tcp"), ("AODV", "message"), ("DSDV", "cbr"), ("DSR", "cbr"), ("DSR", "tcp")],
)
def test_both_formats_of_what_ns2_writes_now_tell_the_same(ns2, routing, traffic):
    ifq = "CMUPriQueue" if routing == "DSR" else "Queue/DropTail/PriQueue"
    traces = [ns2(f"{new}", new=new, routing=routing, traffic=traffic, ifq=ifq) for new in (0, 1)]
    old, new = (facts(path) for path in traces)
    assert not [row for path in traces for row in read(FilePart(str(path))) if isinstance(row, BadLine)]
    for table in TABLES.keys() - {"legs"}:
        assert rows(old, table) == rows(new, table), table
    assert rows(new, "publications")


def test_an_ns2_run_is_measured_as_validation_measures_it(ns2):
    path = ns2("run", new=1, seconds=8)
    with path.open() as lines:
        theirs = read_unicast_trace(lines, 0.0)
    ours = evaluate(metric_input(facts(path)))
    assert theirs.delivery == ours["delivery_rate"] > 0
    assert theirs.delay == pytest.approx(ours["delay_mean"])
    assert theirs.routing == ours["messages_routing"]


def test_what_a_run_came_to():
    run = measure(facts(NEW, range=250.0, warmup=0.5))
    assert (run.protocol, run.nodes, run.publications, run.expected, run.delivered) == (
        "ns2-aodv",
        5,
        8,
        8,
        3,
    )
    assert run.messages == {"event": 10, "subscription": 0, "routing": 10, "control": 0, "total": 20}
    assert run.frames == {"received": 71, "retry_limit": 2, "sent": 77}
    assert run.drops == {"no_route": 1}


def test_a_message_that_no_one_answered_had_no_frame_and_failed():
    [failed] = [row for row in rows(facts(OLD), "transmissions") if row["failed"]]
    assert (failed["node"], failed["to"], failed["attempts"]) == (0, 1, 0)
    assert failed["publication"] == 0 << 32 | 4
    assert failed["airtime"] == pytest.approx(7 * 44 * 8 / 1e6)  # seven times an RTS, at 1 Mb/s


def test_airtime_follows_from_the_rates():
    slow, quick = (facts(OLD, rates=LinkRates(data=rate)) for rate in (1e6, 2e6))
    times = [
        [row["airtime"] for row in rows(found, "transmissions") if row["to"] != -1] for found in (slow, quick)
    ]
    assert sum(times[0]) > sum(times[1]) > sum(times[0]) / 2
    broadcast = [row for row in rows(slow, "transmissions") if row["to"] == -1]
    assert broadcast[0]["airtime"] == pytest.approx(106 * 8 / 1e6)


def test_a_node_retries_until_it_is_acknowledged():
    def line(event, time, layer, kind="cbr", reason="---", mac="[13a 1 0 800]"):
        return f"{event} {time} _0_ {layer} {reason} 7 {kind} 590 {mac} ------- [0:0 3:0 30 1] [0] 0 0"

    text = [
        line("s", "1.0", "AGT"),
        line("s", "1.0", "RTR"),
        line("s", "1.1", "MAC"),
        line("s", "1.2", "MAC"),
        "r 1.210000000 _0_ MAC --- 0 ACK 38 [0 0 0 0]",
        line("s", "2.0", "RTR"),  # the same packet once more, as a router that salvages it does
        line("s", "2.1", "MAC"),
    ]
    found = assemble("t", [parse(number, each) for number, each in enumerate(text)], TraceDescription()).facts
    assert [(row["time"], row["attempts"]) for row in rows(found, "transmissions")] == [(1.1, 2), (2.1, 1)]
    assert {row["publication"] for row in rows(found, "transmissions")} == {1}


def test_what_a_trace_cannot_tell_is_said(ns2):
    path = ns2("quiet", new=0, mac="OFF", traffic="message")
    found = assemble(str(path), read(FilePart(str(path))), TraceDescription())
    result = " ".join(found.notes)
    for word in ("-macTrace", "each repetition", "positions are unknown"):
        assert word in result
    assert all(row["attempts"] == 1 and row["airtime"] == 0 for row in rows(found.facts, "transmissions"))


def test_everyone_is_where_the_trace_says():
    legs = [row for row in rows(facts(NEW), "legs") if row["node"] == 1]
    assert [(leg["start"], leg["x0"], leg["y0"]) for leg in legs[:2]] == [(0, 210, 100), (1.5, 210, 100)]
    assert (legs[1]["x1"], legs[1]["y1"]) == (200, 450)
    assert legs[-1]["end"] == facts(NEW).run.duration


def test_bad_lines_are_kept_apart_with_where_and_why(tmp_path):
    good = OLD.read_bytes().splitlines(keepends=True)
    bad = [b"r nonsense\n", b"s 1e999 _0_ RTR --- 0 cbr 5 [0 0 0 0]\n", b"\xff\xfe\n", b"+ 1.0 0 2 cbr 10\n"]
    path = tmp_path / "t.tr"
    path.write_bytes(b"".join([*good[:50], *bad, *good[50:]]))
    found = assemble(str(path), read(FilePart(str(path))), TraceDescription())
    assert rows(found.facts, "deliveries") == rows(facts(OLD), "deliveries")
    first = sum(map(len, good[:50]))
    assert [row.offset for row in found.bad] == [first + sum(map(len, bad[:n])) for n in range(4)]
    for row, why in zip(found.bad, ("neither", "not finite", "UTF-8", "wired"), strict=True):
        assert why in row.why
    assert "4 lines could not be parsed" in found.notes[0]


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "t.tr"
    path.write_text("hello\n")
    with pytest.raises(IngestError, match="no line of an ns-2 wireless trace: byte 0: neither"):
        facts(path)


@given(size=st.integers(500, 20_000))
@settings(max_examples=6)
@example(size=1170)
def test_every_line_is_read_once_however_a_file_is_cut(size):
    whole = list(read(FilePart(str(OLD))))
    pieces = split(str(OLD), size, splittable=True)
    assert [row for piece in pieces for row in read(piece)] == whole


LINES = [line for path in (OLD, NEW) for line in path.read_text().splitlines()]


@st.composite
def mutated(draw):
    """A real line with a few words or letters changed, left out or doubled."""
    line = draw(st.sampled_from(LINES))
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.sampled_from(["word", "letter", "cut", "double"]))
        words = line.split(" ")
        at = draw(st.integers(0, max(len(words) - 1, 0)))
        if how == "word":
            hostile = st.sampled_from(
                ["-1", "1e999", "nan", "9" * 30, "ffffffff", "[", "]", "_1_", "-t", "\0", ""]
            )
            words[at] = draw(hostile | st.text(max_size=4))
            line = " ".join(words)
        elif how == "letter" and line:
            place = draw(st.integers(0, len(line) - 1))
            line = line[:place] + draw(st.characters(codec="utf-8")) + line[place + 1 :]
        elif how == "cut":
            line = line[: draw(st.integers(0, len(line)))]
        else:
            line = " ".join([*words, words[at]])
    return line


@given(lines=st.lists(mutated(), min_size=1, max_size=8))
@settings(max_examples=40)
def test_no_line_does_harm(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "t.tr"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = list(read(FilePart(str(path))))
    assert len(found) <= len("\n".join(lines).splitlines()) + len(lines)
    try:
        assembled = assemble(str(path), found, TraceDescription())
    except IngestError:
        assert sum(isinstance(row, TraceRecord) for row in found) < max(len(found) / 2, 1)
        return
    assert isinstance(assembled.facts, Facts)
    evaluate(metric_input(assembled.facts))
