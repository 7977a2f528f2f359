"""Imports point one way, and what must stay out of a room stays out."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.campaign.version import DECIDING

PACKAGE = Path(__file__).parents[2] / "src" / "roamcast"

MAY_IMPORT = {
    "content": set(),
    "wire": {"content"},
    "routing": {"content", "wire"},
    "testing": {"content", "wire", "routing"},
    "scenario": {"content", "routing"},
    "facts": {"content", "routing"},
    "metrics": {"routing", "facts"},
    "sim": {"content", "routing", "scenario", "facts", "metrics"},
    "live": {"content", "routing", "wire", "facts"},
    "testbed": {"content", "wire", "routing", "scenario", "facts", "metrics", "sim", "live"},
    "ingest": {"routing", "scenario", "facts"},
    "lake": {"facts"},
    "campaign": {"routing", "scenario", "metrics"},
    "advisor": {"content", "routing", "scenario", "sim"},
    "results": {"metrics", "campaign", "lake"},
    "pipeline": {
        *("content", "routing", "scenario", "facts", "metrics", "sim", "lake", "campaign", "results"),
        "advisor",
    },
    "report": {"metrics", "campaign", "results", "lake"},
    "why": {"facts"},
    "replay": {"scenario", "facts", "why"},
    "studio": {
        "advisor",
        *("scenario", "routing", "facts", "metrics", "lake", "campaign", "results", "report", "replay"),
        *("why", "ingest", "live", "api", "cli"),
    },  # the interface for the browser; campaigns and queries run in child processes
    "api": None,  # the interface for Python, as cli is for the terminal
    "cli": None,  # opens every door
}
"Which rooms a room may know; everyone may know errors, files, fingerprint, units and the package's version."

OPEN_TO_ALL = {"errors", "files", "fingerprint", "units", "__version__", "_kernel"}

FORBIDDEN = {"time", "asyncio", "socket", "logging", "os", "threading", "subprocess"}
"What a router asks of its host instead; content needs none of it."


def imports(path):
    """The modules that a file imports for running, with the line of each; not those for type checks only."""
    package = ["roamcast", *path.relative_to(PACKAGE).parent.parts]
    for node in _running(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "roamcast":
                for alias in node.names:
                    yield f"roamcast.{alias.name}", node.lineno
            else:
                yield module, node.lineno


def _running(tree):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _running(node)


def files(room):
    return sorted((PACKAGE / room).rglob("*.py"))


ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_every_room_has_its_walls_drawn():
    assert set(ROOMS) <= MAY_IMPORT.keys()


@pytest.mark.parametrize("room", [room for room in ROOMS if MAY_IMPORT.get(room, set()) is not None])
def test_imports_point_one_way(room):
    allowed = MAY_IMPORT[room] | {room} | OPEN_TO_ALL
    for path in files(room):
        for module, line in imports(path):
            parts = module.split(".")
            if parts[0] == "roamcast" and len(parts) > 1:
                assert parts[1] in allowed, f"{path.name}:{line}: {room} must not know {module}"


@pytest.mark.parametrize("room", ["content", "wire", "routing"])
def test_content_and_routing_own_no_clock_socket_file_or_log(room):
    for path in files(room):
        for module, line in imports(path):
            assert module.partition(".")[0] not in FORBIDDEN, (
                f"{path.name}:{line}: {room} must not know {module}"
            )


LAB = ("pyspark", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "lxml", "networkx", "shapely")


def test_a_live_node_runs_without_the_libraries_of_the_lab():
    """In a process of its own, with every built-in router."""
    code = (
        "import sys, roamcast.live.node; from roamcast.routing import catalogue\n"
        "for name in catalogue.names(): catalogue.find(name)\n"
        f"print(*[name for name in {LAB!r} if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_a_campaign_is_asked_for_without_spark():
    for path in files("campaign"):
        for module, line in imports(path):
            assert module.partition(".")[0] not in ("pyspark", "py4j"), f"{path.name}:{line}: knows {module}"


def test_routers_draw_no_entropy_of_their_own():
    for path in files("routing"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "Random",
                "random.Random",
                "uuid.uuid4",
            ):
                raise AssertionError(f"{path.name}:{node.lineno}: a router asks its host for chance")


def test_whatever_the_simulator_knows_is_in_the_version_of_a_run():
    known, todo = set(), ["sim"]
    while todo:
        room = todo.pop()
        if room not in known:
            known.add(room)
            todo.extend(MAY_IMPORT[room])
    assert known - {"metrics"} <= set(DECIDING)  # metrics are taken of the facts afterwards


@pytest.mark.parametrize("name", ["utils", "helpers", "manager", "common", "misc"])
def test_no_module_is_called_after_nothing(name):
    assert not list(PACKAGE.rglob(f"{name}.py"))


UNCHECKED = {
    "simulate.py": "checks the package, then the router of each run",
    "check.py": "reports the version of each executor",
    "archive.py": "loads classes; keeps no result",
    "clustering.py": "applyInArrow calls its function by the group: the check is in that function",
}
"Modules with a function for Spark's workers that is not wrapped in `checked`, and why."


def test_every_spark_task_checks_the_code_of_its_executor():
    """A stage that does not would keep what other code computed under this code's version."""
    bare = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("mapInArrow", "applyInArrow", "mapInPandas", "applyInPandas"):
                given = node.args[0]
                if not (isinstance(given, ast.Call) and ast.unparse(given.func) == "checked"):
                    bare.add(path.name)
    assert bare == UNCHECKED.keys()


LINUX = re.compile(r"/proc\b|pidfd_open|prctl|\bfcntl\b|sched_getaffinity|os\.fork|get_context\(.fork.\)")


def test_code_for_linux_alone_is_in_live_testbed_pipeline_and_results():
    """The rest may be read, and tried, elsewhere (decision 0371)."""
    found = {
        path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if LINUX.search(path.read_text())
    }
    assert found == {"live", "testbed", "pipeline", "results"}  # results asks /proc/locks, and does without


def test_a_finished_folder_is_read_without_the_pipeline():
    """Nothing that report, replay and studio import, directly or not, is of the pipeline or of Spark."""
    program = (
        "import sys, importlib, pkgutil\n"
        "sys.modules.update(dict.fromkeys(['roamcast.pipeline', 'pyspark', 'py4j']))\n"
        "import roamcast.replay, roamcast.report, roamcast.results, roamcast.studio\n"
        "for package in (roamcast.replay, roamcast.report, roamcast.results, roamcast.studio):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "import roamcast.cli.campaigns.campaign, roamcast.cli.shared.campaign_command\n"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
