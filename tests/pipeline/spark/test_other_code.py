"""A task refuses an executor whose Roamcast differs from the driver's in any module, metrics included."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyspark import cloudpickle

import roamcast
from roamcast.campaign.version import code_version
from roamcast.fingerprint import OTHER_CODE, checked
from roamcast.pipeline.running.task import check_version

EXECUTOR = """
import pickle, sys
sys.meta_path = [each for each in sys.meta_path if "roamcast" not in type(each).__module__]
sys.path[:0] = sys.argv[1:2]
task = pickle.loads(open(sys.argv[2], "rb").read())
print(list(task([1, 2])))
"""


@pytest.fixture
def executor(tmp_path):
    """A copy of the package, and a call that runs a pickled task with it in a process of its own."""
    package = tmp_path / "site" / "roamcast"
    shutil.copytree(Path(roamcast.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    kernel = Path(find_spec("roamcast._kernel").origin)
    shutil.copy(kernel, package / kernel.name)

    def work(batches):
        from roamcast.metrics.declarations import METRICS

        yield from (f"{batch} {len(METRICS) > 0}" for batch in batches)

    task = tmp_path / "task"
    task.write_bytes(cloudpickle.dumps(checked(work)))

    def run():
        words = [sys.executable, "-c", EXECUTOR, str(package.parent), str(task)]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    run.package = package
    return run


def test_the_same_code_works(executor):
    assert executor().stdout == "['1 True', '2 True']\n"


@pytest.mark.parametrize("room", ["metrics", "lake", "pipeline", "campaign"])
def test_other_code_of_any_stage_is_refused(executor, room):
    file = executor.package / room / "__init__.py"
    file.write_text(file.read_text() + "\n# changed\n")
    result = executor()
    assert result.returncode == 1 and re.search(OTHER_CODE, result.stderr), result.stderr


def test_an_executor_without_roamcast_is_reported_as_such(executor):
    (executor.package / "__init__.py").write_text("raise ImportError")
    assert "has no Roamcast" in executor().stderr


class Planned:
    router, version = "flooding", code_version("flooding")


def test_a_router_with_other_code_is_refused():
    check_version(Planned)

    class Elsewhere(Planned):
        version = f"{Planned.version}.0badc0de"

    with pytest.raises(RuntimeError, match=OTHER_CODE):
        check_version(Elsewhere)
