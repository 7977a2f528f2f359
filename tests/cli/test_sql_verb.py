"""`roamcast sql` lists tables without Spark, and tells in a line what cannot be asked."""

import json
from pathlib import Path

import pytest

import roamcast
from roamcast.cli.app import invoke
from roamcast.lake.columns import TAGS

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("runs") / "one"
    roamcast.run(SQUARE).facts.write(target)
    return target


def test_without_a_question_the_tables_are_listed_with_their_meanings(folder, capsys):
    assert invoke(["sql", str(folder.parent)]) == 0
    output = capsys.readouterr().out
    assert "deliveries" in output
    assert "since the start of the run [s]" in output
    assert invoke(["sql", str(folder), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in tables["deliveries"]] == [
        *TAGS,
        *("publication", "node", "time"),
    ]


@pytest.mark.parametrize("arguments", [["."], ["/nowhere", "select 1"]])
def test_a_folder_without_runs_is_told_in_one_line(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(["sql", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_wrong_question_is_told_with_the_tables_that_there_are(folder, capfd):
    for question in ("select wrong from deliveries", "selec"):
        assert invoke(["sql", str(folder), question]) == 2
        message = capfd.readouterr().err
        assert message.count("\n") == 1
        assert "the tables are publications, expectations" in message
    assert invoke(["sql", str(folder), "select count(*) n from deliveries", "--csv"]) == 0
    assert capfd.readouterr().out.splitlines()[0] == "n"
