"""`roamcast advise --verify`: results of the first protocols beside their predictions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.advisor.drawing.draw import draw_text
from roamcast.cli.campaigns.advise import VERIFIED

ROAMCAST = Path(sys.executable).with_name("roamcast")


@pytest.mark.spark
def test_the_first_protocols_are_run_and_their_results_are_printed(tmp_path):
    (tmp_path / "world.toml").write_text(draw_text(900007))
    command = [ROAMCAST, "advise", "world.toml", "--verify", "--seeds", "1", "--json"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    ranking = json.loads(ended.stdout)["ranking"]
    assert ["result" in each for each in ranking] == [number < VERIFIED for number in range(len(ranking))]
    for each in ranking[:VERIFIED]:
        assert 0 <= each["result"]["delivery"] <= 1
        assert each["result"]["airtime"] > 0
