import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roamcast.content.filter import Filter
from roamcast.facts.diff import compare
from roamcast.facts.recorder import CodedColumn, Recorder
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError

from .conftest import NEWS, RUN


def test_every_table_has_its_declared_schema_with_and_without_rows(facts):
    nothing = Recorder().facts(RUN)
    for name, schema in TABLES.items():
        assert facts[name].schema.equals(schema)
        assert nothing[name].schema.equals(schema)
        assert len(nothing[name]) == 0


def test_drops_of_several_sources_come_in_order_of_time_with_their_words(facts):
    assert facts["drops"].select(["time", "kind", "cause"]).to_pylist() == [
        {"time": 12.0, "kind": "Flood", "cause": "no_route"},
        {"time": 30.0, "kind": "Flood", "cause": "collided"},
    ]


def test_words_are_kept_once_and_only_if_they_occur():
    """A string kept twice would leave bytes of chance in the file."""
    column = CodedColumn(np.array([4, 1, 1, 5]), ["never", "lost", "", "", "late", "lost"])
    plain = {"time": np.arange(4.0), "node": np.zeros(4), "peer": np.zeros(4), "publication": np.zeros(4)}
    recorder = Recorder()
    recorder.drops(**plain, category=column, kind=column, cause=column)
    for name in ("category", "kind", "cause"):
        column = recorder.facts(RUN)["drops"][name].combine_chunks()
        assert column.dictionary.to_pylist() == ["lost", "late"]
        assert column.to_pylist() == ["late", "lost", "lost", "lost"]


def test_requests_come_in_the_order_in_which_they_were_made(facts):
    rows = facts["requests"].select(["request", "time", "outcome", "publication", "fresh"]).to_pylist()
    assert [(r["request"], r["time"], r["outcome"], r["publication"], r["fresh"]) for r in rows] == [
        (1 << 32 | 1, 9.0, "expired", -1, False),
        (3 << 32 | 1, 20.0, "satisfied", 4, True),
        (3 << 32 | 2, 40.0, "open", -1, False),
    ]
    answered = facts["requests"]["answered"].to_pylist()
    assert answered[1] == 30.1 and np.isnan(answered[0]) and np.isnan(answered[2])


def test_an_outcome_that_no_request_can_have_is_refused(recorder):
    with pytest.raises(ValueError, match="satisfied, expired, open, abandoned"):
        recorder.request(1, 0, 0.0, Filter.everything(NEWS.type), "forgotten")


def test_the_kinds_of_messages_are_known_with_their_categories():
    recorder = Recorder()
    assert recorder.kinds() == {}
    kinds, categories = ["Unused", "Wish", "Word"], ["event", "subscription", "routing"]
    plain = {"time": np.arange(2.0), "node": np.zeros(2), "publication": np.zeros(2)}
    recorder.transmissions(
        **plain, to=np.zeros(2), size=np.zeros(2), attempts=np.ones(2), failed=np.zeros(2, bool),
        airtime=np.zeros(2), kind=CodedColumn(np.array([2, 2]), kinds),
        category=CodedColumn(np.array([0, 0], np.uint8), categories),
    )  # fmt: skip
    recorder.drops(
        **plain, peer=np.zeros(2), cause=CodedColumn(np.array([0, 0]), ["lost"]),
        kind=CodedColumn(np.array([1, 2]), kinds),
        category=CodedColumn(np.array([1, 0], np.uint8), categories),
    )  # fmt: skip
    assert recorder.kinds() == {"Wish": "subscription", "Word": "event"}


def test_a_column_that_is_missing_or_too_many_is_refused(recorder):
    with pytest.raises(TypeError, match="drops has the columns"):
        recorder.drops(time=[1.0])


def test_what_is_written_is_read_back_and_written_again_byte_for_byte(facts, tmp_path):
    facts.write(tmp_path / "a")
    again = Facts.read(tmp_path / "a")
    again.write(tmp_path / "b")
    assert again.run == facts.run
    assert again.digest() == facts.digest()
    assert compare(again, facts).equal
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_words_stored_as_plain_strings_by_others_are_read_as_words(facts, tmp_path):
    facts.write(tmp_path)
    plain = facts["drops"].set_column(6, "cause", facts["drops"]["cause"].cast(pa.string()))
    pq.write_table(plain, tmp_path / "drops.parquet")
    assert Facts.read(tmp_path).digest() == facts.digest()


def test_the_digest_changes_with_any_fact(facts):
    seen = {facts.digest()}
    for name, table in facts.tables.items():
        seen.add(Facts(facts.run, {**facts.tables, name: table.slice(0, len(table) - 1)}).digest())
    assert len(seen) == 1 + len(TABLES)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda d: (d / "run.json").unlink(), "no run.json, so no run finished"),
        (lambda d: (d / "run.json").write_text("{"), "run.json: damaged"),
        (lambda d: (d / "run.json").write_text('{"seed": 1}'), "run.json: damaged"),
        (lambda d: (d / "drops.parquet").unlink(), "drops.parquet: missing"),
        (lambda d: (d / "drops.parquet").write_bytes(b"PAR1"), "drops.parquet: damaged or not Parquet"),
        (lambda d: _cut(d / "transmissions.parquet"), "transmissions.parquet: damaged or not Parquet"),
        (
            lambda d: _change(d, lambda t: t.drop(["x0"])),
            "legs.parquet: no column 'x0'; it has node, start, end, y0, x1, y1",
        ),
        (
            lambda d: _change(d, lambda t: t.set_column(3, "x0", pa.array(["a"] * 5))),
            "column 'x0' holds string",
        ),
        (
            lambda d: _change(d, lambda t: t.set_column(3, "x0", pa.array([None] * 5, pa.float64()))),
            "column 'x0' has 5 empty cells",
        ),
    ],
)
def test_a_broken_folder_is_told_from_a_whole_one(facts, tmp_path, damage, complaint):
    facts.write(tmp_path)
    damage(tmp_path)
    with pytest.raises(FactsError) as caught:
        Facts.read(tmp_path)
    assert complaint in str(caught.value)


def test_no_folder_and_an_unwritable_one_are_errors_of_the_user(facts, tmp_path):
    with pytest.raises(FactsError, match="no such folder"):
        Facts.read(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(FactsError, match="cannot be written"):
        facts.write(tmp_path / "file")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([*TABLES]), st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_a_flipped_bit_in_a_table_is_noticed_or_changes_no_fact(facts, tmp_path, name, where, bit):
    facts.write(tmp_path)
    path = tmp_path / f"{name}.parquet"
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        found = Facts.read(tmp_path)
    except FactsError as error:
        assert path.name in str(error)
    else:
        assert found.digest() == facts.digest()


@given(st.binary(max_size=50))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_instead_of_what_was_run_is_noticed(facts, tmp_path, noise):
    facts.write(tmp_path)
    (tmp_path / "run.json").write_bytes(noise)
    with pytest.raises(FactsError, match=r"run\.json: damaged"):
        Facts.read(tmp_path)


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _change(folder, change):
    path = folder / "legs.parquet"
    pq.write_table(change(pq.read_table(path)), path)
