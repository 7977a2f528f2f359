"""An archive of classes is made once and taken by later sessions."""

import os
import subprocess
import sys

import pytest

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
    archive = run("-m", "roamcast.pipeline.spark.archive").strip()
    assert [str(file) for file in (tmp_path / "roamcast").iterdir()] == [archive]
    made = os.stat(archive).st_mtime_ns  # noqa: PTH116
    assert run("-m", "roamcast.pipeline.spark.archive").strip() == archive
    assert os.stat(archive).st_mtime_ns == made  # noqa: PTH116
    assert run("-c", SESSION).strip() == f"['-XX:SharedArchiveFile={archive}'] 7"
