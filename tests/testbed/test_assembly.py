"""The facts of a testbed run are assembled from records of datagrams and segments of nodes."""

import numpy as np

from roamcast.content.declare import declare_type
from roamcast.facts.live.segments import expect, renumber
from roamcast.facts.tables import from_rows
from roamcast.testbed.assembly import end_interests, transmissions
from roamcast.testbed.frames import Carried
from roamcast.testbed.schedule import NodeSchedule

NUMBERS = {1000: 0, 2000: 1, 77: 2}
TYPE = declare_type("alert", {"level": "integer"})


def test_ids_become_numbers_also_within_publication_ids():
    rows = from_rows("deliveries", [(2000 << 32 | 5, 77, 1.0), (1000 << 32 | 6, 2000, 2.0)])
    assert renumber(rows, NUMBERS).to_pylist() == [
        {"publication": 1 << 32 | 5, "node": 2, "time": 1.0},
        {"publication": 0 << 32 | 6, "node": 1, "time": 2.0},
    ]


def test_repetitions_by_the_live_link_are_attempts_of_one_transmission():
    records = {
        "time": np.array([1.0, 1.2, 1.3]),
        "node": np.array([0, 0, 1]),
        "to": np.array([1, 1, -1]),
        "publication": np.array([0, 1, 2]),
        "attempts": np.array([2, 1, 1]),
        "failed": np.array([True, False, False]),
        "airtime": np.array([0.002, 0.001, 0.001]),
    }
    unicast = Carried("Ack", "control", -1, 20, True, (1000, 2000, 5), 2000)
    flood = Carried("Flood", "event", 1000 << 32 | 1, 100, True, None, None)
    rows = transmissions(records, [unicast, unicast, flood], NUMBERS).to_pylist()
    assert [(row["kind"], row["to"], row["attempts"], row["failed"]) for row in rows] == [
        ("Ack", 1, 3, False),
        ("Flood", -1, 1, False),
    ]
    assert abs(rows[0]["airtime"] - 0.003) < 1e-12 and rows[1]["publication"] == 1


def test_a_crash_ends_the_interests_of_its_node():
    rows = from_rows("interests", [(0.0, 0, "/alert", True), (0.0, 1, "/alert", True)])
    lives = [NodeSchedule(0, lives=[(0.0, 2.0), (3.0, 9.0)]), NodeSchedule(1, lives=[(0.0, 9.0)])]
    ended = end_interests(rows, lives, 9.0).to_pylist()
    assert [(row["time"], row["node"], row["begins"]) for row in ended] == [
        (0.0, 0, True),
        (0.0, 1, True),
        (2.0, 0, False),
    ]


def test_expected_are_the_nodes_interested_at_the_time_but_the_publisher():
    interests = from_rows(
        "interests",
        [
            (0.0, 0, "/alert[level > 2]", True),
            (0.0, 1, "/alert[level > 2]", True),
            (0.5, 2, "/alert", True),
            (2.0, 1, "/alert[level > 2]", False),
        ],
    )
    published = [
        (1, 1.0, 0, 10, TYPE(level=3).to_json()),
        (2, 1.5, 0, 10, TYPE(level=1).to_json()),
        (3, 2.5, 0, 10, TYPE(level=3).to_json()),
    ]
    found = expect(from_rows("publications", published), interests, {"alert": TYPE}).to_pylist()
    assert [(row["publication"], row["node"]) for row in found] == [(1, 1), (1, 2), (2, 2), (3, 2)]
