import numpy as np
import pyarrow as pa
import pytest

from roamcast.facts.tables import Facts, FactsError
from roamcast.replay import losses
from roamcast.replay.packing import Packer, read_column, unpack
from roamcast.replay.parts import air as module
from roamcast.replay.recording import Recording
from roamcast.scenario.locality.hubs import place_hubs
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.why.causes import Cause
from roamcast.why.presentation.tally import tally


def unpacked(facts):
    packer = Packer()
    header, columns = unpack(packer.finish(Recording(facts).pack(packer)))
    return header, lambda result: read_column(result, columns)


@pytest.fixture(scope="module")
def run(facts):
    return unpacked(facts)


def joined(run, table, column):
    header, read = run
    return np.concatenate([read(piece[table][column]) for piece in header["pieces"]])


def test_every_transmission_is_a_frame_with_its_sender_receiver_message_and_event(facts, run):
    header, _ = run
    sent = facts["transmissions"].to_pandas().sort_values("time", kind="stable")
    assert np.abs(joined(run, "frames", "time") - sent["time"]).max() < 1e-6
    assert (joined(run, "frames", "node") == sent["node"].to_numpy()).all()
    assert (joined(run, "frames", "to").astype(int) - 1 == sent["to"].to_numpy()).all()
    kinds = [tuple(header["messages"][number]) for number in joined(run, "frames", "message")]
    assert kinds == list(zip(sent["category"].astype(str), sent["kind"].astype(str), strict=True))
    assert (joined(run, "frames", "attempts") == sent["attempts"].to_numpy()).all()
    assert (joined(run, "frames", "failed") == sent["failed"].to_numpy()).all()
    ids = publications(run)
    events = [ids[number - 1] if number else -1 for number in joined(run, "frames", "event")]
    assert events == sent["publication"].tolist()


def publications(run):
    header, read = run
    result = header["publications"]
    publisher, sequence = (
        read(result["publisher"]).astype(np.int64),
        read(result["sequence"]).astype(np.int64),
    )
    return (publisher << 32 | sequence).tolist()


def test_every_drop_has_its_node_peer_and_cause(facts, run):
    header, read = run
    drops = facts["drops"].to_pandas().sort_values("time", kind="stable")
    assert (joined(run, "drops", "node") == drops["node"].to_numpy()).all()
    assert (joined(run, "drops", "peer").astype(int) - 1 == drops["peer"].to_numpy()).all()
    causes = [piece["causes"][cause] for piece in header["pieces"] for cause in read(piece["drops"]["cause"])]
    assert causes == drops["cause"].astype(str).tolist()


def test_legs_are_exact(facts, run):
    header, read = run
    legs = facts["legs"].to_pandas().sort_values(["node", "start"])
    for name in ("start", "end", "x0", "y0", "x1", "y1"):
        assert read(header["legs"][name]).tolist() == legs[name].tolist()


def test_losses_are_those_of_why_with_the_same_causes(facts, run):
    header, read = run
    losses, ids = header["losses"], publications(run)
    published = dict(zip(ids, read(header["publications"]["time"]), strict=True))
    late = [published[ids[event]] >= facts.run.warmup for event in read(losses["event"])]
    counted = tally(facts).events
    assert sum(late) == counted.missed > 100
    for cause in counted.causes:
        number = losses["causes"].index(Cause[cause.cause.upper()].value)
        assert (read(losses["cause"])[late] == number).sum() == cause.times
    assert len(losses["stories"]) == len(late) and all(losses["stories"])
    assert losses["unavailable"] == ""


def test_charts_add_up_to_the_facts(facts, run):
    charts = run[0]["charts"]
    assert sum(map(sum, charts["frames"].values())) == len(facts["transmissions"])
    width = facts.run.duration / len(charts["airtime"])
    total = facts["transmissions"]["airtime"].to_numpy().sum()
    assert sum(charts["airtime"]) * width == pytest.approx(total, rel=1e-3)
    assert all(share is None or 0 <= share <= 1 for share in charts["delivered"])
    collided = facts["drops"].to_pandas()["cause"].isin(["collided", "captured", "weak", "deaf"]).sum()
    assert sum(charts["collisions"]) == collided


def test_filters_of_the_run_have_the_contents_that_they_match(run):
    header, _ = run
    contents = header["publications"]["contents"]
    assert header["filters"]["/coupon[zone=7]"] == [contents.index('{"coupon":{"zone":7}}')]


def test_the_ground_has_zones_groups_and_the_radio_of_the_scenario(run):
    ground = run[0]["ground"]
    assert ground["zones"] == {"side": 250.0, "columns": 4, "rows": 2, "type": "coupon"}
    assert [(group["name"], group["first"], group["count"]) for group in ground["groups"]] == [
        ("shop", 0, 1),
        ("walkers", 1, 50),
    ]
    assert (ground["area"], ground["range"], ground["sense"]) == ([1000.0, 500.0], 250.0, 550.0)


def test_hubs_are_where_the_run_had_them():
    world = load(locate("city"), ["duration='1 s'", "warmup='0 s'", "quiet='0 s'"])
    hubs = unpacked(simulate(world, "flooding", 3))[0]["ground"]["hubs"]
    assert hubs == [[hub.x, hub.y, hub.side] for hub in place_hubs(world, 3)] and len(hubs) == 4


def test_pieces_divide_the_frames_and_drops_without_gap_or_overlap(facts, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 97)
    pieces = unpacked(facts)
    header = pieces[0]
    assert len(header["pieces"]) == -(-len(facts["transmissions"]) // 97)
    assert (np.diff(joined(pieces, "frames", "time")) >= 0).all()
    assert len(joined(pieces, "frames", "time")) == len(facts["transmissions"])
    assert len(joined(pieces, "drops", "time")) == len(facts["drops"])
    ends = [piece["end"] for piece in header["pieces"]]
    assert [piece["start"] for piece in header["pieces"][1:]] == ends[:-1] and ends[-1] == facts.run.duration


def test_facts_without_a_range_say_why_no_loss_is_explained(facts):
    import msgspec

    bare = Facts(msgspec.structs.replace(facts.run, range=None, resolved={}), facts.tables)
    header, _ = unpacked(bare)
    assert "radio range" in header["losses"]["unavailable"] and not header["losses"]["stories"]
    assert header["ground"]["zones"] is None and header["ground"]["groups"][0]["count"] == facts.run.nodes


def test_facts_that_name_a_strange_node_are_refused(facts):
    tables = dict(facts.tables)
    nodes = pa.array([999] * len(tables["drops"]), pa.int32())
    tables["drops"] = tables["drops"].set_column(1, tables["drops"].schema.field("node"), nodes)
    with pytest.raises(FactsError, match="drops: a row names a node"):
        Recording(Facts(facts.run, tables))


def test_a_run_in_which_nothing_was_sent_is_a_recording_too(facts):
    tables = {name: facts[name].slice(0, len(facts[name]) if name == "legs" else 0) for name in facts.tables}
    header, _ = unpacked(Facts(facts.run, tables))
    assert header["frames"] == 0 and len(header["pieces"]) == 1


def test_a_run_with_too_many_losses_is_written_without_causes(facts, monkeypatch):
    result = Recording(facts).losses
    assert result.events and not result.unavailable
    monkeypatch.setattr(losses, "MOST_LOSSES", len(result.events) - 1)
    large = Recording(facts)
    assert large.losses.events == [] and "roamcast replay --serve" in large.losses.unavailable
    monkeypatch.setattr(losses, "MOST_LOSSES", len(result.events))
    assert Recording(facts).losses.events == result.events
