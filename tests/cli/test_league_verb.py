"""`roamcast league`: mistakes are refused before anything runs, and a small league is whole and resumable."""

import json

import pytest

from roamcast.cli.app import invoke


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--worlds", "conwoy"], "did you mean 'convoy'?"),
        (["--protocols", "floodin"], "did you mean 'flooding'?"),
        (
            ["--worlds", "one-reader", "--protocols", "gpsr-unicast"],
            "no protocol can run in any of the worlds",
        ),
        (["--markdown", "nowhere/page.md"], "no such folder: nowhere"),
        (["--markdown", __file__], "has no part of the league; expected a line <!-- league: summary -->"),
    ],
)
def test_a_wrong_option_is_one_message_and_code_2(options, says, tmp_path, capsys):
    folder = tmp_path / "out"
    assert invoke(["league", "--out", str(folder), *options]) == 2
    message = capsys.readouterr().err
    assert says in message and "Traceback" not in message and not folder.exists()


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_small_league_tells_its_ranking_causes_and_page(tmp_path, capsys):
    words = ["league", "--worlds", "convoy,rescue", "--protocols", "flooding,cbr", "--seeds", "2"]
    words += ["--out", str(tmp_path / "out"), "--json"]
    assert invoke(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert {each["world"] for each in record["worlds"]} == {"convoy", "rescue"} and record["runs"] == {
        "done": 8
    }
    assert any(each["causes"] for world in record["worlds"] for each in world["standings"])
    assert "<svg" in (tmp_path / "out" / "league.html").read_text()
    assert invoke(words) == 0  # nothing is left to run
    assert json.loads(capsys.readouterr().out) == record
