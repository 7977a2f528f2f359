"""A lake in a bucket: the same commits through an S3 endpoint, with a real client and no rename."""

import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.datasource import EqualTo
from small_lake import content, expected, ready, stage

from roamcast.errors import UserError
from roamcast.lake.storage import StorageUrl, _connect
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.remote_tables import read_rows, to_expression

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
RUNS = [f"{number:020x}" for number in range(1, 12)]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """A bucket behind moto's server, in a process of its own."""
    pytest.importorskip("moto", reason="needs moto's server: pip install 'moto[server,s3]'")
    import boto3

    log = tmp_path_factory.mktemp("moto") / "log"  # a pipe that nobody empties would stop it when it is full
    with log.open("wb") as errors:
        server = subprocess.Popen(
            [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stderr=errors
        )
    values = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    kept = {key: os.environ.get(key) for key in (*values, "AWS_ENDPOINT_URL")}
    try:
        while not (found := re.search(r"http://[\d.:]+(?=\s)", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        url = found[0]
        os.environ.update(values | {"AWS_ENDPOINT_URL": url})
        _connect.cache_clear()
        while True:
            try:
                urllib.request.urlopen(url, timeout=60).close()
                break
            except OSError:
                time.sleep(0.2)
        boto3.client("s3", endpoint_url=url).create_bucket(Bucket="lake")
        yield "lake"
    finally:
        server.kill()
        server.wait()
        for key, value in kept.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
        _connect.cache_clear()


def test_commits_compactions_and_damage_go_as_on_a_disk(bucket, tmp_path):
    store = CampaignFolder(f"s3://{bucket}/commits")
    store.create()
    (store.folder / "campaign.json").write(b"{}")
    for run in RUNS[:9]:
        stage(store, run)
        if run != RUNS[0]:
            Committer(None, store).commit(ready(store))
    Committer(None, store).compact()
    assert len(store.snapshot().batches) == 1
    for table in ("deliveries", "drops"):
        assert content(store.folder, table) == expected(RUNS[:9], table)
    assert not store.survey(RUNS[:9]).missing
    [name] = store.snapshot().batches
    (store.facts / "drops" / f"{name}.parquet").remove()
    assert len(store.survey(RUNS[:9]).damaged) == 9


def test_of_two_drivers_in_one_bucket_one_commits(bucket):
    one, other = CampaignFolder(f"s3://{bucket}/two"), CampaignFolder(f"s3://{bucket}/two")
    (one.folder / "campaign.json").write(b"{}")
    for run in RUNS[:2]:
        stage(one, run)
    staged = ready(one)
    stale = one.snapshot()
    Committer(None, other).commit({RUNS[0]: staged[RUNS[0]]})
    one._snapshot = stale
    Committer(None, one).commit(staged)
    assert content(one.folder, "deliveries") == expected(RUNS[:2], "deliveries")


@pytest.mark.spark
def test_a_campaign_runs_in_a_bucket_from_end_to_end(bucket, tmp_path):
    folder = f"s3://{bucket}/campaign"
    file = tmp_path / "tiny.toml"
    file.write_text(
        """
        title = "tiny"
        scenario = "shopping"
        seeds = 2
        [protocols.flooding]
        [sweeps.one]
        protocols = ["flooding"]
        set = { duration = "20 s", warmup = "5 s" }
        """
    )
    run = [sys.executable, "-c", "from roamcast.cli import main; main()"]

    def roamcast(*words):
        return subprocess.run([*run, *words], capture_output=True, text=True, timeout=1500, check=False)

    first = roamcast("campaign", "run", str(file), "--out", folder)
    assert first.returncode == 0, first.stderr
    again = roamcast("campaign", "run", str(file), "--out", folder)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stderr
    assert roamcast("campaign", "verify", folder).returncode == 0
    assert "2 done" in roamcast("campaign", "status", folder).stdout
    assert StorageUrl(f"{folder}/report.html").exists()
    assert roamcast("why", folder, "--json").returncode == 0
    where = roamcast("campaign", "watch", folder, "--once")
    assert where.returncode == 2 and "--checkpoint" in where.stderr and where.stderr.count("\n") == 1
    watched = roamcast("campaign", "watch", folder, "--checkpoint", str(tmp_path / "checkpoint"))
    assert watched.returncode == 0, watched.stderr
    for name in ("metrics", "summary", "verdicts"):
        ours, theirs = (
            StorageUrl(f"{folder}/{tables}/{name}.parquet").read() for tables in ("watch/tables", "tables")
        )
        assert ours == theirs, name


def test_an_unknown_scheme_and_a_missing_bucket_are_told_in_a_line(bucket):
    with pytest.raises(UserError, match="unsupported scheme gopher://"):
        StorageUrl("gopher://hole/x")
    with pytest.raises(UserError, match="cannot write a campaign here"):
        CampaignFolder("s3://nowhere-at-all/x").create()


class CountingProxy:
    """Passes connections on to an endpoint, and counts the bytes of its answers."""

    def __init__(self, endpoint):
        url = urlsplit(endpoint)
        self.target = (url.hostname, url.port)
        self.answered = 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.create_connection(self.target)
                for source, sink, counts in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self.copy, args=(source, sink, counts), daemon=True).start()

    def copy(self, source, sink, counts):
        with suppress(OSError), source, sink:
            while piece := source.recv(1 << 16):
                self.answered += len(piece) if counts else 0
                sink.sendall(piece)


def test_a_query_reads_its_columns_and_row_groups_alone(bucket, monkeypatch):
    rows, runs = 400_000, 8
    draw = random.Random(1)
    table = pa.table(
        {
            "run": [f"{row * runs // rows:020x}" for row in range(rows)],
            "node": pa.array([draw.randrange(100) for _ in range(rows)], pa.int32()),
            **{
                name: pa.array([draw.random() for _ in range(rows)]) for name in ("time", "airtime", "energy")
            },
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=rows // runs, write_page_checksum=True)
    file = StorageUrl(f"s3://{bucket}/wide.parquet")
    file.write(sink.getvalue().to_pybytes())
    proxy = CountingProxy(os.environ["AWS_ENDPOINT_URL"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)

    def read(names, *filters):
        _connect.cache_clear()
        before = proxy.answered
        schema = pa.schema([table.schema.field(name) for name in names])
        found = sum(batch.num_rows for batch in read_rows(file, schema, to_expression(filters)))
        return found, proxy.answered - before

    try:
        whole = read(table.schema.names)
        narrow = read(["run", "node"])
        one_run = read(["run", "node"], EqualTo(("run",), f"{3:020x}"))
        no_run = read(["run", "node"], EqualTo(("run",), "absent"))
    finally:
        proxy.listening.close()
        monkeypatch.undo()
        _connect.cache_clear()
    assert (whole[0], narrow[0], one_run[0], no_run[0]) == (rows, rows, rows // runs, 0)
    assert whole[1] > len(sink.getvalue())
    print(f"bytes of {whole[1]:,}: two columns {narrow[1]:,}, one run {one_run[1]:,}, none {no_run[1]:,}")
    assert narrow[1] < whole[1] / 5 and one_run[1] < narrow[1] / 2 and no_run[1] < one_run[1]
