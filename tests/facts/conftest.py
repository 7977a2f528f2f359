import numpy as np
import pytest

from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.facts.recorder import CATEGORIES, CodedColumn, Recorder
from roamcast.facts.tables import RunManifest
from roamcast.routing.router import Publication

NEWS = EventType("news", {})()
RUN = RunManifest(
    scenario="tiny",
    protocol="flooding",
    parameters={"jitter": 0.01},
    seed=7,
    version="0",
    nodes=4,
    duration=100.0,
    warmup=10.0,
    frames={"data": 5, "collided": 1},
    drops={"duplicate": 3},
    events_processed=99,
)


@pytest.fixture
def recorder():
    """Five publications, the first within the warm-up; node 3 gets one twice and one it did not want."""
    r = Recorder()
    for sequence, time in enumerate([5.0, 10.0, 20.0, 30.0, 40.0], 1):
        publication = Publication(0, sequence, NEWS, 512)
        r.publication(time, publication)
        r.expectations(publication.id, [1, 2] if sequence != 5 else [])
    r.interest(0.0, 1, Filter.everything(NEWS.type), True)
    r.delivery(1, 1, 5.5)
    r.delivery(2, 1, 10.2)
    r.delivery(2, 2, 10.4)
    r.delivery(3, 2, 21.2)
    r.delivery(3, 2, 22.0)
    r.delivery(4, 3, 30.1)
    wanted = Filter.everything(NEWS.type)
    r.request(3 << 32 | 2, 3, 40.0, wanted, "open")
    r.request(3 << 32 | 1, 3, 20.0, wanted, "satisfied", answered=30.1, publication=4, fresh=True)
    r.request(1 << 32 | 1, 1, 9.0, wanted, "expired")
    r.states(
        time=np.array([3.0, 15.0]),
        node=np.array([1, 1]),
        name=CodedColumn(np.array([1, 1]), ["", "hops"]),
        value=np.array([2.0, 3.0]),
    )
    for node in range(4):
        r.table_size(10.0, node, "routes", 2 * node, 16 * node)
        r.table_size(10.0, node, "seen", 100, 800)
    r.legs(
        node=np.array([0, 1, 2, 3, 3], np.int32),
        start=np.array([0.0, 0, 0, 0, 50]),
        end=np.array([100.0, 100, 100, 50, 100]),
        x0=np.array([1.0, 2, 3, 4, 5]),
        y0=np.zeros(5),
        x1=np.array([1.0, 2, 3, 5, 5]),
        y1=np.zeros(5),
    )
    r.transmissions(
        time=np.array([9.0, 11.0, 12.0, 13.0]),
        node=np.array([0, 1, 2, 3], np.uint32),
        to=np.array([-1, -1, 0, -1]),
        category=CodedColumn(np.array([0, 0, 2, 3], np.uint8), CATEGORIES),
        kind=CodedColumn(np.array([0, 0, 1, 1]), ["Flood", "Hello"]),
        publication=np.array([1, 1, -1, -1]),
        size=np.array([512, 512, 20, 20]),
        attempts=np.array([1, 1, 7, 1]),
        failed=np.array([False, False, True, False]),
        airtime=np.array([0.1, 0.1, 0.1, 0.1]),
    )
    for time, cause in ((30.0, "collided"), (12.0, "no_route")):
        r.drops(
            time=np.array([time]),
            node=np.array([2]),
            peer=np.array([1]),
            category=CodedColumn(np.array([0]), CATEGORIES),
            kind=CodedColumn(np.array([1]), ["Hello", "Flood"]),
            publication=np.array([4]),
            cause=CodedColumn(np.array([1]), ["", cause]),
        )
    return r


@pytest.fixture
def facts(recorder):
    return recorder.facts(RUN)


@pytest.fixture(scope="session")
def facts_of():
    """Facts that hold nothing but deliveries: rows of (publication, node, time)."""

    def make(deliveries):
        r = Recorder()
        for row in deliveries:
            r.delivery(*row)
        return r.facts(RUN)

    return make
