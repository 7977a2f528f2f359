"""Spark reads traces in pieces, and makes the same facts of them as one process."""

from pathlib import Path

import pytest

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.ingest.assembly import assemble
from roamcast.ingest.description import TraceDescription
from roamcast.ingest.file_parts import BadLine, FilePart
from roamcast.ingest.readers.ns2trace import TraceRecord, read
from roamcast.ingest.source import SOURCES, register

TRACES = Path(__file__).parents[1] / "ingest" / "traces"


def test_a_trace_is_read_in_pieces_with_its_bad_lines(spark, tmp_path):
    register(spark)
    path = tmp_path / "t.tr"
    path.write_bytes((TRACES / "line-old.tr").read_bytes() + b"nonsense\n")
    frame = spark.read.format("roamcast.ns2trace").option("split", 8000).load(str(path))
    assert frame.rdd.getNumPartitions() == 2
    assert "s sent" in frame.schema["event"].metadata["comment"]
    expected = list(read(FilePart(str(path))))
    found = [row[1:] for row in frame.orderBy("offset").collect()]
    assert [TraceRecord(*row[:-2]) for row in found[:-1]] == expected[:-1]
    assert isinstance(expected[-1], BadLine)
    assert (found[-1][0], *found[-1][-2:]) == expected[-1]


@pytest.mark.slow
def test_every_format_has_its_source(spark, tmp_path):
    register(spark)
    texts = {
        "roamcast.ns2trace": ("a.tr", (TRACES / "line-new.tr").read_text()),
        "roamcast.ns2movement": ("a.mov", "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n"),
        "roamcast.bonnmotion": ("a.movements", "0 1 2\n"),
        "roamcast.sumofcd": (
            "a.xml",
            "<fcd-export><timestep time='1'><person id='a' x='1' y='2'/></timestep></fcd-export>",
        ),
        "roamcast.gps": ("a.csv", "time,lat,lon\n1,2,3\n"),
    }
    assert texts.keys() == {source.name() for source in SOURCES}
    for name, (file, text) in texts.items():
        (tmp_path / file).write_text(text)
        frame = spark.read.format(name).load(str(tmp_path / file))
        assert frame.where("bad is null").count() > 0, name


def test_facts_made_on_spark_are_those_made_in_memory(spark, tmp_path):
    from roamcast.ingest.distributed import ingest_runs

    paths = [str(TRACES / f"line-{form}.tr") for form in ("old", "new")]
    result = TraceDescription(range=250.0)
    made, bad = ingest_runs(spark, {path: tmp_path / Path(path).stem for path in paths}, result)
    assert not bad
    for run in made:
        expected = assemble(run.path, read(FilePart(run.path)), result)
        assert Facts.read(run.folder).digests() == expected.facts.digests()
        assert run.notes == expected.notes
        assert {name for name in TABLES if len(expected.facts[name])} >= {
            "transmissions",
            "drops",
            "deliveries",
        }
