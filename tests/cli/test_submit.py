"""Campaigns as applications of `spark-submit`, and the example for Airflow."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from roamcast.cli.app import COMMANDS, invoke
from roamcast.cli.submit import add_settings, main
from roamcast.pipeline.campaign_folder import CampaignFolder

ROOT = Path(__file__).parents[2]


def test_master_and_settings_of_the_application_become_options():
    settings = {"spark.master": "spark://h:7077", "spark.executor.memory": "4g", "spark.app.name": "x"}
    result = add_settings(["campaign", "run", "c.toml"], settings | {"spark.submit.deployMode": "client"})
    assert result[:3] == ["campaign", "run", "c.toml"]
    assert result[3:] == ["--master", "spark://h:7077", "--conf", "spark.executor.memory=4g"]
    given = ["sql", "--master", "local[1]"]
    assert add_settings(given, {"spark.master": "yarn"}) == given


def test_without_spark_submit_the_path_is_printed(capsys, monkeypatch):
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert main([]) == 0
    assert Path(capsys.readouterr().out.strip()).name == "submit.py"


def test_the_commands_of_the_airflow_example_exist(capsys):
    file = ROOT / "docs" / "examples" / "airflow_campaign.py"
    compile(file.read_text(), str(file), "exec")
    asked = re.findall(r"(?:roamcast|\")\s*(campaign|lake) (\w+)", file.read_text())
    assert len(asked) == 5 and {verb for verb, _ in asked} <= COMMANDS.keys()
    for verb, command in asked:
        assert invoke([verb, command, "--help"]) == 0
        capsys.readouterr()


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_campaign_is_submitted(tmp_path):
    square = ROOT / "tests" / "golden" / "square.toml"
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        f'title = "submitted"\nscenario = "{square}"\nseeds = 2\n[protocols.flooding]\n'
        '[sweeps.one]\nprotocols = ["flooding"]\n'
    )
    script = subprocess.check_output([sys.executable, "-m", "roamcast.cli.submit"], text=True).strip()
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    submit += ["--conf", "spark.sql.shuffle.partitions=3", script]
    done = subprocess.run(
        [*submit, "campaign", "run", str(campaign), "--out", str(tmp_path / "out")],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(CampaignFolder(tmp_path / "out").snapshot().runs()) == 2
    assert len(CampaignFolder(tmp_path / "out").read_table("metrics")) == 2
