"""Live nodes write facts, which are read as those of one run."""

import asyncio
import json

import pytest

from roamcast.facts.live.network import is_live, read_live
from roamcast.facts.tables import FactsError
from roamcast.live import Config, Node
from roamcast.live.link.bearer import PeerBearer
from roamcast.live.recording import stream as streams
from roamcast.live.recording.session import record
from roamcast.live.recording.stream import FactsStream
from roamcast.metrics.run_metrics import measure
from tests.live.medium import until
from tests.live.network import FIELDS, alert, join


def play(folder, events=3):
    """Two nodes; the second wants all but the last event."""

    async def story():
        bearers = [PeerBearer(("127.0.0.1", 0), []) for _ in range(2)]
        kept = [FactsStream(folder) for _ in bearers]
        config = Config.model_validate({"types": {"alert": FIELDS}})
        async with Node(config, [bearers[0]], kept[0]) as a, Node(config, [bearers[1]], kept[1]) as b:
            join(*bearers)
            async with record(a, kept[0]), record(b, kept[1]):
                subscription = b.subscribe("/alert[level < 9]")
                await until(lambda: a.router.known_receivers(alert(1)) or a.advertise("/alert"))
                for level in [*range(events - 1), 9]:
                    await a.publish(alert(level))
                for _ in range(events - 1):
                    await subscription.next_publication()
        return a.id, b.id

    return asyncio.run(story())


def test_the_facts_of_two_nodes_are_those_of_one_run(tmp_path):
    a, b = play(tmp_path)
    assert is_live(tmp_path)
    facts = read_live(tmp_path)
    metrics = measure(facts)
    assert (metrics.publications, metrics.expected, metrics.delivered) == (3, 2, 2)
    assert metrics.delivery_rate == 1 and 0 < metrics.delay_mean < 5
    assert facts.run.nodes == 2 and facts.run.protocol == "raft-cbr" and 0 < facts.run.duration < 60
    assert set(facts["transmissions"]["node"].to_pylist()) == {0, 1}
    assert {row["node"] for row in facts["interests"].to_pylist()} == {1}
    assert a != b and not list(tmp_path.rglob(".*.parquet"))
    facts.write(tmp_path / "run")


def test_rows_beyond_the_limit_are_counted_as_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MOST_ROWS", 1)
    stream = FactsStream(tmp_path)
    stream.state("a", 1.0)
    stream.state("b", 2.0)
    assert stream.lost == 1


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "facts").write_text("a file")

    async def story():
        stream = FactsStream(tmp_path / "facts")
        config = Config.model_validate({"listen": "127.0.0.1:0"})
        async with Node(config, observer=stream) as node, record(node, stream):
            pass

    with pytest.raises(Exception, match="cannot write facts"):
        asyncio.run(story())


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"node": "x"})])
def test_a_description_that_cannot_be_read_is_named(tmp_path, text):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "1-0.json").write_text(text)
    with pytest.raises(FactsError, match=r"1-0\.json"):
        read_live(tmp_path)


def test_a_folder_without_nodes_is_refused(tmp_path):
    (tmp_path / "nodes").mkdir()
    with pytest.raises(FactsError, match="no node has written"):
        read_live(tmp_path)


def test_the_node_writes_facts_where_its_configuration_says(tmp_path):
    config = Config.model_validate({"facts": str(tmp_path), "listen": "127.0.0.1:0"})
    assert config.facts == tmp_path


def test_the_last_seconds_are_read_alone_with_the_subscriptions_that_stand(tmp_path):
    play(tmp_path)
    whole = read_live(tmp_path)
    times = sorted(whole["publications"]["time"].to_pylist())
    start = min(json.loads(file.read_bytes())["start"] for file in (tmp_path / "nodes").glob("*.json"))
    last = whole.run.duration - (times[1] + times[0]) / 2
    part = read_live(tmp_path, last, start + whole.run.duration)
    assert len(part["publications"]) == 2 and len(part["interests"]) == len(whole["interests"])
    assert len(part["expectations"]) == 1 and min(part["transmissions"]["time"].to_pylist()) >= 0
    assert part.run.nodes == 2 and part.run.duration < whole.run.duration


def test_no_event_is_delivered_before_it_is_published(tmp_path):
    play(tmp_path, 9)
    facts = read_live(tmp_path)
    published = dict(
        zip(*(facts["publications"][n].to_pylist() for n in ("publication", "time")), strict=True)
    )
    delivered = facts["deliveries"].to_pylist()
    assert len(delivered) == 8
    assert all(row["time"] >= published[row["publication"]] for row in delivered)
