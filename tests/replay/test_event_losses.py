"""The losses of one event, explained from the rows that concern it, equal those explained from all rows."""

from collections import defaultdict

import numpy as np
import pyarrow.parquet as pq
import pytest

from roamcast.facts.folder import FactsFolder
from roamcast.facts.tables import Facts
from roamcast.replay import recording as module
from roamcast.replay.losses import explain_losses
from roamcast.replay.parts.air import Air
from roamcast.replay.parts.event_losses import EventLosses
from roamcast.replay.parts.pairs import Pairs
from roamcast.replay.parts.rows import in_order
from roamcast.replay.recording import Recording
from roamcast.routing import catalogue
from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from roamcast.why.trail.trail import Trail
from tests.replay.conftest import SHOPPING

GROUP = 500
OUTAGES = [
    "duration='110 s'",
    "warmup='20 s'",
    "faults.some={ group='walkers', count=3, crash={ every='60 s', down='20 s' } }",
    "faults.shop={ group='shop', radio={ at=['60 s'], down='45 s' } }",
]
OF_A_CAUSE = 4


@pytest.fixture(scope="module", params=sorted(catalogue.names()))
def run(request, tmp_path_factory):
    """The facts of a run with crashes, in small row groups."""
    folder = tmp_path_factory.mktemp(request.param)
    simulate(load(SHOPPING, OUTAGES), request.param, 3, folder=folder)
    for name in ("transmissions", "drops", "expectations", "deliveries"):
        rows = pq.read_table(folder / f"{name}.parquet")
        pq.write_table(rows, folder / f"{name}.parquet", row_group_size=GROUP, write_page_checksum=True)
    return folder


def test_an_event_explained_alone_has_the_causes_and_stories_of_the_whole_run(run, monkeypatch):
    whole = explain_losses(Facts.read(run), 0)
    assert whole.events and not whole.unavailable
    monkeypatch.setattr(module, "MOST_SERVED", 0)
    recording = Recording(Facts.open(run), source=FactsFolder(run))
    assert recording.losses.later
    ids = recording.publications["publication"].to_pylist()
    expected, chosen = defaultdict(list), defaultdict(set)
    for loss in whole.events:
        expected[loss.publication].append(loss)
    for number in np.random.default_rng(5).permutation(len(whole.events)):
        loss = whole.events[number]
        if len(chosen[loss.cause]) < OF_A_CAUSE:
            chosen[loss.cause].add(loss.publication)
    for publication in set().union(*chosen.values()):
        passage = recording.find_passage(ids.index(publication))
        found = {each["node"]: (each["cause"], each["proven"], each["story"]) for each in passage["losses"]}
        assert found == {each.node: (each.cause, each.proven, each.story) for each in expected[publication]}
        assert passage["unavailable"] == ""


def test_the_selected_rows_tell_when_the_last_copy_ended(run):
    facts = Facts.open(run)
    source = FactsFolder(run)
    publications = in_order(facts["publications"], "time", "publication")
    losses = EventLosses(facts, Air(facts, source), Pairs(facts, publications, source))
    whole = Trail(Facts.read(run))
    missed = {}
    for publication, node in whole.misses():
        missed.setdefault(publication, []).append(node)
    ids = publications["publication"].to_pylist()
    for publication in sorted(missed)[:: max(len(missed) // 12, 1)]:
        part = losses.select(publications.slice(ids.index(publication), 1), missed[publication])
        assert part.sent.get(publication) == whole.sent.get(publication)
        assert part.last_sent(publication) == whole.last_sent(publication)
