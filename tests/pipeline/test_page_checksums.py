"""A flipped bit is an error or changes nothing, for Arrow, for Spark and in the campaign's own tables."""

import random

import pyarrow.parquet as pq
import pytest
from small_lake import facts_of, ready, stage
from test_store import IDS, asked

import roamcast
from roamcast.campaign.plan import make_plan
from roamcast.lake.snapshot import LakeError
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.query import run_query
from roamcast.pipeline.views import open_tables


@pytest.fixture
def store(tmp_path):
    made = CampaignFolder(tmp_path / "out")
    made.create()
    made.write_campaign(asked())
    for run in IDS:
        stage(made, run, facts_of(run, rows=100))
    Committer(None, made).commit(ready(made))
    return made


def flips(file, count, footer=True):
    """Yield after each of `count` single-bit flips of the file, drawn from a fixed seed."""
    good, draw = file.read_bytes(), random.Random(7)
    end = len(good) - 8 - (0 if footer else pq.read_metadata(file).serialized_size)
    for _ in range(count):
        bad = bytearray(good)
        bad[draw.randrange(4, end)] ^= 1 << draw.randrange(8)
        file.write_bytes(bad)
        yield
    file.write_bytes(good)


def count_errors(file, count, read, footer=True):
    """Read after each flip; how many reads failed. Those that did not must give the same."""
    right, errors = read(), 0
    for _ in flips(file, count, footer):
        try:
            found = read()
        except Exception:
            errors += 1
        else:
            assert found == right
    assert read() == right
    return errors


def deliveries(store):
    [name] = store.snapshot().batches
    return store.facts.local / "deliveries" / f"{name}.parquet"


def test_arrow_gives_no_other_values(store):
    lake = roamcast.lake(store.folder.local)
    errors = count_errors(deliveries(store), 400, lambda: lake.dataset("deliveries").to_table().to_pylist())
    assert errors > 250


def test_pages_of_the_tables_of_the_pipeline_give_no_other_values(store):
    store.write_plan(make_plan(asked()))
    file = store.table_file("plan").local
    assert count_errors(file, 100, lambda: store.read_table("plan").to_pylist(), footer=False) > 20


def test_a_damaged_footer_is_told_in_a_line(store):
    file = deliveries(store)
    file.write_bytes(file.read_bytes().replace(b"\x04time", b"\x04tune"))
    with pytest.raises(
        LakeError, match=r"the footer does not match its digest; see: roamcast campaign verify"
    ):
        roamcast.lake(store.folder.local).dataset("deliveries")
    assert Committer(None, store).repair(list(store.snapshot().batches)).keys() == set(IDS)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_query_gives_no_other_values(store, spark):
    tables = open_tables(str(store.folder))

    def query():
        found = run_query(
            spark, tables, "select sum(time), sum(node), sum(publication), count(*) from deliveries"
        )
        return found.collect()

    assert count_errors(deliveries(store), 12, query) > 6
