"""An archive of classes is made once and taken by later sessions."""

import os
import subprocess
import sys

import pytest

from roamcast.pipeline.spark import archive

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(1200),
]

SESSION = """
from roamcast.pipeline.spark.session import open_session
with open_session("local[1]") as spark:
    beans = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    print([str(word) for word in beans.getInputArguments() if "Archive" in word], spark.range(7).count())
"""


def test_a_session_takes_its_classes_from_the_archive(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}

    def run(*words):
        command = [sys.executable, *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert run("-c", SESSION).strip() == "[] 7"
    file = run("-m", "roamcast.pipeline.spark.archive").strip()
    assert [str(file) for file in (tmp_path / "roamcast").iterdir()] == [file]
    made = os.stat(file).st_mtime_ns  # noqa: PTH116
    assert run("-m", "roamcast.pipeline.spark.archive").strip() == file
    assert os.stat(file).st_mtime_ns == made  # noqa: PTH116
    assert run("-c", SESSION).strip() == f"['-XX:SharedArchiveFile={file}'] 7"


def test_an_archive_that_is_not_written_in_time_is_reported_and_no_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(archive, "_EXIT", 0.01)
    archive.main()
    assert "did not write its archive of classes in 0 s; without it sessions" in capsys.readouterr().out
    assert not list((tmp_path / "roamcast").iterdir())
