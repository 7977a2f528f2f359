"""`roamcast advise --verify`: results of the first protocols beside their predictions."""

import json

import pytest

from roamcast.advisor.drawing.draw import draw_text
from roamcast.cli.advise import VERIFIED
from roamcast.cli.app import invoke

pytestmark = pytest.mark.spark


def test_the_first_protocols_are_run_and_their_results_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.toml").write_text(draw_text(900007))
    assert invoke(["advise", "world.toml", "--verify", "--seeds", "1", "--json"]) == 0
    ranking = json.loads(capsys.readouterr().out)["ranking"]
    assert ["result" in each for each in ranking] == [number < VERIFIED for number in range(len(ranking))]
    for each in ranking[:VERIFIED]:
        assert 0 <= each["result"]["delivery"] <= 1
        assert each["result"]["airtime"] > 0
