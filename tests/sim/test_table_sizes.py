"""The sizes of routers' tables are looked at now and then, and looking changes nothing."""

from pathlib import Path

import roamcast

STREET = Path(__file__).parents[1] / "golden" / "street.toml"


def test_every_table_of_every_node_is_looked_at_at_each_sample():
    facts = roamcast.run(STREET, "ft-cbr", 1, ['sample="7 s"']).facts
    rows = facts["tables"].to_pylist()
    assert {row["time"] for row in rows} == {7.0 * n for n in range(1, 9)}
    looks = [(row["time"], row["node"], row["table"]) for row in rows]
    tables = {row["table"] for row in rows}
    assert len(set(looks)) == len(looks) == 8 * facts.run.nodes * len(tables)
    assert {"subscriptions", "seen", "floods"} <= tables
    held = {table: [row["entries"] for row in rows if row["table"] == table] for table in tables}
    assert max(held["subscriptions"]) > 5 and max(held["seen"]) > 20
    assert all((row["bytes"] > 0) == (row["entries"] > 0) for row in rows)


def test_how_often_one_looks_changes_nothing_else():
    for protocol in ("cbr", "ft-cbr", "raft-cbr"):
        often, seldom = (
            roamcast.run(STREET, protocol, 1, [f'sample="{sample} s"', 'duration="30 s"']).facts
            for sample in (1, 29)
        )
        ours, theirs = often.digests(), seldom.digests()
        different = {name for name in ours if ours[name] != theirs[name]}
        assert different <= {"run", "tables"}
        assert often.run.frames == seldom.run.frames and often.run.drops == seldom.run.drops


def test_a_node_that_is_down_holds_nothing_worth_telling():
    crash = {"group": "walkers", "crash": {"at": ["12 s"], "down": "10 s"}}
    facts = roamcast.run(STREET, "cbr", 1, {"sample": "7 s", "faults": {"all": crash}}).facts
    looked = {}
    for row in facts["tables"].to_pylist():
        looked.setdefault(row["time"], set()).add(row["node"])
    everyone, shops = set(range(facts.run.nodes)), {0, 1}
    assert [looked[7.0 * n] for n in (1, 2, 3, 4)] == [everyone, shops, shops, everyone]
