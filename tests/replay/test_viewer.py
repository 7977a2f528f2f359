import base64
import hashlib
import json
import re
import subprocess
import sys
from importlib.resources import files

import msgspec
import pytest

from roamcast.facts.tables import Facts
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import MODULES, join_modules, make_viewer

WEB = files("roamcast.replay") / "web"


def roamcast(*arguments, cwd=None):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


def test_modules_import_only_what_stands_before_them():
    for place, name in enumerate(MODULES):
        imported = re.findall(r'^import .* from "\./(.+)";$', (WEB / name).read_text(), re.MULTILINE)
        assert set(imported) <= set(MODULES[:place]), name
    assert {file.name for file in WEB.iterdir()} == {*MODULES, "page.html", "style.css"}


def test_joined_modules_share_one_scope_without_a_name_twice():
    script = join_modules()
    names = re.findall(r"^(?:async )?(?:function|class|const|let) ([\w$]+)", script, re.MULTILINE)
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    assert "</script" not in script and not re.search(r"^(import|export) ", script, re.MULTILINE)


def test_the_page_runs_only_its_own_script_and_loads_nothing(facts):
    page = make_viewer([Recording(facts)])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy and "unsafe" not in policy
    assert not re.search(r"""(?:src|href)=["']?(?!#)|https?://|url\(""", page)


def test_the_same_facts_give_the_same_file(facts):
    assert make_viewer([Recording(facts)]) == make_viewer([Recording(facts)])


def test_names_from_scenarios_are_escaped_and_cannot_stand_for_parts_of_the_page(facts):
    hostile = Facts(
        msgspec.structs.replace(facts.run, scenario="</title><script>alert(1)</script>@data@"), facts.tables
    )
    page = make_viewer([Recording(hostile)])
    assert "<script>alert" not in page and page.count("&lt;/title&gt;") == 2 and page.count("@data@") == 2


def test_the_command_writes_a_file_and_tells_where_it_is(shopping, tmp_path):
    done = roamcast("replay", shopping["cbr"], "--event", "0/12", "--node", "3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    file = tmp_path / record["file"]
    assert file.name == "shopping-cbr-1.html" and file.stat().st_size == record["bytes"]
    assert record["link"] == f"{file.as_uri()}#event=0/12&node=3"
    assert record["runs"][0]["transmissions"] > 0


def test_the_command_simulates_a_scenario_under_two_protocols_side_by_side(tmp_path):
    short = ("--set", "duration='20 s'", "--set", "warmup='5 s'")
    file = tmp_path / "deep" / "two.html"
    done = roamcast("replay", "shopping", "--protocol", "cbr,flooding", *short, "--out", file, "--json")
    assert done.returncode == 0, done.stderr
    assert [run["protocol"] for run in json.loads(done.stdout)["runs"]] == ["cbr", "flooding"]
    assert "shopping, cbr and flooding, seed 1" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (["nowhere"], "nowhere"),
        (["shopping", "--protocol", "cbr,cbr"], "name each protocol once"),
        (["shopping", "--protocol", "nothing"], "nothing"),
        (["shopping", "--event", "x"], "is not a valid event id"),
        (["run=abc"], "no campaign was run here"),
        (["FACTS", "--protocol", "cbr"], "--protocol and --set are only for scenarios"),
        (["FACTS"] * 5, "at most 4"),
        (["FACTS", "--out", "/proc/nothing/x.html"], "cannot be written"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(arguments, result, shopping, tmp_path):
    given = [str(shopping["cbr"]) if each == "FACTS" else each for each in arguments]
    done = roamcast("replay", *given, cwd=tmp_path)
    assert done.returncode == 2 and result in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())
