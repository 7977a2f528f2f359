"""What answers one question is not overwritten by another, unless one says so."""

import json
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.cli.shared.output_folder import FolderInUse, find_folder, reserve_folder
from roamcast.lake.snapshot import Batch, Commit, CommittedRun
from roamcast.pipeline.campaign_folder import CampaignFolder

SQUARE = str(Path(__file__).parents[2] / "golden" / "square.toml")
BRIEF = ["--set", "duration=40 s", "--set", "warmup=0 s", "--set", "quiet=0 s"]
ONE = {"compare": "shopping", "set": {}, "protocols": ["cbr", "flooding"]}
OTHER = ONE | {"protocols": ["cbr", "ft-cbr"]}


@pytest.fixture
def store(tmp_path):
    """A folder that belongs to ONE, with two runs."""
    store = CampaignFolder(tmp_path / "out")
    store.create()
    kept = {"question": ONE, "command": "roamcast compare shopping", "campaign": {}}
    (store.folder / "campaign.json").write(json.dumps(kept).encode())
    batches = [Batch(f"batch-{run}", {run: CommittedRun(rows=0, size=0)}, {}) for run in ("a", "b")]
    store.log.append(store.snapshot(), Commit(add=batches))
    store.table_file("verdicts").write(b"old")
    (store.folder / "report.html").write(b"old")
    return store


def test_the_same_question_goes_on_where_it_was(store):
    reserve_folder(store, ONE, ["a", "b", "c"], replace=False)
    assert store.table_file("verdicts").exists()


def test_a_second_question_without_a_folder_gets_one_of_its_own(store):
    base = str(store.folder)
    assert find_folder(base, ONE) == base
    assert find_folder(base, OTHER) == f"{base}-2"
    second = CampaignFolder(f"{base}-2")
    second.create()
    (second.folder / "campaign.json").write(b"{")
    assert find_folder(base, OTHER) == f"{base}-3"
    (second.folder / "campaign.json").write(json.dumps({"question": OTHER}).encode())
    assert find_folder(base, OTHER) == f"{base}-2"


def test_another_question_is_refused_and_nothing_is_touched(store):
    with pytest.raises(FolderInUse, match="holds results of a different configuration") as raised:
        reserve_folder(store, OTHER, ["b"], replace=False)
    assert "(made by: roamcast compare shopping)" in str(raised.value) and "--overwrite" in str(raised.value)
    assert store.table_file("verdicts").exists() and "a" in store.snapshot().runs()


def test_replace_gives_up_the_old_results_and_keeps_the_runs_that_both_need(store):
    reserve_folder(store, OTHER, ["b"], replace=True)
    assert not store.table_file("verdicts").exists() and not (store.folder / "report.html").exists()
    assert store.snapshot().runs().keys() == {"b"}
    reserve_folder(store, OTHER, ["b"], replace=False)


def test_a_run_is_not_written_over_another_run(tmp_path, capsys):
    facts = tmp_path / "facts"
    run = ["run", SQUARE, *BRIEF, "--facts", str(facts)]
    assert invoke(run) == 0
    before = (facts / "run.json").read_bytes()
    assert invoke(run) == 0  # the same run again
    for other in (["--seed", "2"], ["--protocol", "cbr"], ["--set", "duration=41 s"]):
        capsys.readouterr()
        assert invoke([*run, *other]) == 2
        error = capsys.readouterr().err
        assert "holds a different run (square, flooding, seed 1); choose another folder" in error
        assert (facts / "run.json").read_bytes() == before
    assert invoke([*run, "--seed", "2", "--overwrite"]) == 0
    assert (facts / "run.json").read_bytes() != before


def test_facts_and_campaigns_do_not_share_a_folder(store, tmp_path, capsys):
    assert invoke(["run", SQUARE, "--facts", str(store.folder)]) == 2
    assert "belongs to a campaign" in capsys.readouterr().err
    (tmp_path / "run.json").write_text("{}")
    assert invoke(["compare", SQUARE, "--protocols", "flooding,cbr", "--out", str(tmp_path)]) == 2
    assert "holds the facts of a run" in capsys.readouterr().err


def test_a_comparison_of_other_protocols_is_refused_before_anything_runs(store, capsys):
    arguments = ["compare", "shopping", "--protocols", "cbr,ft-cbr", "--out", str(store.folder)]
    assert invoke(arguments) == 2
    assert "holds results of a different configuration" in capsys.readouterr().err
