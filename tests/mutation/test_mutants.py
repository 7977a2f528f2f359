"""Mutants are small faults in code that is run, drawn from a seed and loaded without touching the tree."""

import ast
import importlib
import json
import marshal
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mutation import several
from mutation.blocks import bodies, probe
from mutation.draw import Drawn, draw
from mutation.imports import imported
from mutation.report import Equivalent, equivalents, page, tally
from mutation.sites import mutants, mutate, show
from mutation.swap import Imported
from mutation.trace import ROOMS, FastTest, Trace, module_of, sources
from mutation.trial import Outcome, _choose
from mutation.unrun import unrun

ROOT = Path(__file__).parents[2]

MODULE = '''"""A module."""
from __future__ import annotations

LIMIT = 3
"How many: documented, so left alone."
FACTOR = 2.0


class Thing(Base, frozen=True, kind=7):
    """One."""

    width: int | None = 4
    "Metres."

    def grow(self, by: int | float, most=10) -> int | None:
        """Grow by 1 or 2."""
        if by < 0 or not self.width:
            raise ValueError("no")
        self.width = min(self.width + by, most)
        for step in range(1, by):
            if step == most:
                return None
            note(self, step)
        return -self.width if self.width in (1, 2) else LIMIT
'''


def changes(source):
    return {(mutant.operator, *show(source, mutant.index)) for mutant in mutants(source)}


def test_every_kind_of_small_fault_is_made():
    found = changes(MODULE)
    assert {
        ("constant", "2.0", "2.02"),
        ("off by one", "7", "8"),
        ("boundary", "by < 0", "by <= 0"),
        ("comparison", "by < 0", "by >= 0"),
        ("boolean", "by < 0 or not self.width", "by < 0 and (not self.width)"),
        ("boolean", "not self.width", "not not self.width"),
        ("removed statement", "raise ValueError('no')", "pass"),
        ("removed statement", "return None", "pass"),
        ("removed statement", "note(self, step)", "pass"),
        ("arithmetic", "self.width + by", "self.width - by"),
        ("swapped function", "min(self.width + by, most)", "max(self.width + by, most)"),
        ("swapped arguments", "range(1, by)", "range(by, 1)"),
        ("comparison", "self.width in (1, 2)", "self.width not in (1, 2)"),
        ("off by one", "10", "9"),
    } <= found


def test_annotations_docstrings_and_what_is_documented_are_left_alone():
    for operator, before, after in changes(MODULE):
        assert before not in ("int | None", "int | float", "3", "4", "True"), (operator, before, after)
        assert "Grow" not in before
        assert before != after


def test_each_mutant_is_one_change_and_the_module_is_whole_again_after_each():
    plain = ast.dump(ast.parse(MODULE))
    dumps = [ast.dump(mutate(MODULE, mutant.index)) for mutant in mutants(MODULE)]
    assert plain not in dumps
    assert len(set(dumps)) == len(dumps)
    for mutant in mutants(MODULE):
        after = show(MODULE, mutant.index)[1]
        assert after in ast.unparse(mutate(MODULE, mutant.index))
    with pytest.raises(IndexError):
        mutate(MODULE, len(dumps))


def test_every_mutant_of_our_own_modules_compiles():
    for path in sources()[::9]:
        source = path.read_text()
        for mutant in mutants(source)[::25]:
            compile(mutate(source, mutant.index), str(path), "exec", dont_inherit=True)


def test_a_block_notes_that_it_was_run_and_a_mutant_knows_its_block():
    source = (
        "def f(x):\n    '''Doc.'''\n    if x:\n        return 1 + x\n    return [2, *g(x)]\n"
        "def g(x):\n    return [x]\n"
    )
    tree = ast.parse(source)
    assert [block for block, _, _ in bodies(tree)] == [0, 1, 2, 3]
    assert probe(tree) == 4
    space = {}
    exec(compile(tree, "some", "exec"), space)
    assert space["f"].__doc__ == "Doc."
    assert space["f"](0) == [2, 0]
    assert list(space["__hit__"][:]) == [0, 1, 0, 1]
    if (child := os.fork()) == 0:
        space["f"](1)
        os._exit(0)
    os.waitpid(child, 0)
    assert list(space["__hit__"][:]) == [0, 1, 1, 1], "what a fork runs is noted, too"
    assert {mutant.block for mutant in mutants(source) if mutant.line == 4} == {2}


def test_a_seed_draws_the_same_mutants_each_time_over_all_rooms_by_their_lines():
    drawn = draw(5, 200)
    some = sources()[::12]
    assert draw(5, 20, some) == draw(5, 20, some) != draw(6, 20, some)
    assert len({(mutant.file, mutant.line) for mutant in drawn}) == 200
    rooms = Counter(mutant.file.split("/")[2] for mutant in drawn)
    assert set(rooms) == set(ROOMS)
    assert rooms["content"] > rooms["wire"]
    assert len({mutant.operator for mutant in drawn}) >= 7
    for mutant in drawn[::20]:
        assert Path(mutant.file).read_text().splitlines()[mutant.line - 1].strip() == mutant.text


def test_a_mutant_is_loaded_by_every_process_and_the_tree_stays_as_it_is(tmp_path):
    path = ROOT / "src/roamcast/metrics/ratio.py"
    before = path.read_bytes()
    source = path.read_text()
    [index] = [m.index for m in mutants(source) if show(source, m.index)[0] == "number / by"]
    code = compile(mutate(path.read_text(), index), str(path), "exec", dont_inherit=True)
    (tmp_path / "roamcast.metrics.ratio.code").write_bytes(marshal.dumps(code))
    say = "from roamcast.metrics.ratio import divide; print(divide(6, 3))"
    grandchild = [sys.executable, "-c", say]
    command = [sys.executable, "-c", f"{say}; import subprocess; subprocess.run({grandchild!r}, check=True)"]
    mutated = os.environ | {"PYTHONPATH": str(ROOT / "mutation/hook"), "ROAMCAST_MUTATION": str(tmp_path)}
    ran = subprocess.run(command, env=mutated, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["18", "18"]
    ran = subprocess.run(grandchild, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["2.0"]
    assert path.read_bytes() == before


def test_a_mutant_is_put_into_a_module_that_is_imported_and_its_caches_are_emptied(tmp_path, monkeypatch):
    path = tmp_path / "counting.py"
    path.write_text(
        "from functools import lru_cache\n"
        "class Thing:\n    @property\n    def size(self):\n        return sum(n + 1 for n in range(3))\n"
        "def outer(by):\n    def inner(x):\n        return x + by\n    return inner\n"
        "@lru_cache\ndef half(x):\n    return x // 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    counting = importlib.import_module("counting")
    source, thing, add = path.read_text(), counting.Thing(), counting.outer(2)
    places = {show(source, m.index): m.index for m in mutants(source)}
    assert (thing.size, add(5), counting.half(6)) == (6, 7, 3)
    assert Imported.now().swap(path, places["n + 1", "n - 1"])
    assert (thing.size, add(5), counting.half(6)) == (0, 7, 3)
    assert Imported.now().swap(path, places["x + by", "x - by"])
    assert (add(5), counting.outer(1)(5)) == (3, 4)
    assert Imported.now().swap(path, places["x // 2", "x * 2"])
    counting.half.__wrapped__.__module__ = counting.half.__module__ = "roamcast.counting"
    assert counting.half(6) == 3
    Imported.now().forget_answers()
    assert counting.half(6) == 12


def test_the_tests_of_the_room_come_first_one_by_one_and_what_does_not_fit_is_counted():
    own = [FastTest(f"tests/wire/a.py::{n}", cost, False) for n, cost in enumerate((0.9, 0.4, 30.0))]
    others = [FastTest(f"tests/sim/b.py::{n}", 0.1, n == 1) for n in range(2)]
    stages, left = _choose([[*own, *others], []], "wire", 20.0)
    names = [[test.name.partition("tests/")[2] for test in stage] for stage in stages]
    assert (names, left) == ([["wire/a.py::1", "wire/a.py::0"], ["sim/b.py::0", "sim/b.py::1"]], 1)
    assert _choose([[*own, *others], []], "wire", 1.0, importing=0.6) == ([[own[1], others[1]]], 3)


def test_tests_on_spark_have_as_many_seconds_of_their_own():
    cheap = [FastTest(f"tests/wire/a.py::{n}", 4.0, False) for n in range(3)]
    on_spark = [FastTest(f"tests/wire/b.py::{n}", 6.0, True) for n in range(2)]
    stages, left = _choose([[*cheap, *on_spark], []], "wire", 8.0)
    assert [test for stage in stages for test in stage] == [*cheap[:2], on_spark[0]] and left == 2


def test_what_is_made_at_import_meets_one_test_of_each_file_before_a_second_of_any():
    tests = [
        FastTest(f"tests/{file}.py::{n}", 0.1 + n / 10, False)
        for file in ("wire/a", "docs/b")
        for n in (0, 1)
    ]
    [stage], _ = _choose([tests, []], "wire", 20.0, importing=0.1)
    assert [test.name[6:] for test in stage] == [
        "wire/a.py::0",
        "docs/b.py::0",
        "wire/a.py::1",
        "docs/b.py::1",
    ]
    [stage], _ = _choose([tests, []], "wire", 20.0)
    assert [test.name[6:] for test in stage] == [
        "wire/a.py::0",
        "wire/a.py::1",
        "docs/b.py::0",
        "docs/b.py::1",
    ]


def test_a_function_that_was_probed_can_be_sent_elsewhere(tmp_path):
    """Spark pickles functions with the names that they use, so with the memory that notes their blocks."""
    tree = ast.parse("def f(x):\n    return x + 1\n")
    probe(tree)
    (tmp_path / "probed.py").write_text(ast.unparse(tree) + "\n")
    say = (
        "import sys, pickle; sys.path.insert(0, sys.argv[1]); import probed; from pyspark import cloudpickle;"
        "cloudpickle.register_pickle_by_value(probed); sent = cloudpickle.dumps(probed.f);"
        "print(pickle.loads(sent)(4))"
    )
    hooked = os.environ | {"PYTHONPATH": str(ROOT / "mutation/hook"), "ROAMCAST_MUTATION": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", say, str(tmp_path)],
        env=hooked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["5"], ran.stderr


def test_every_mutant_is_tried_once_whoever_takes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(several, "Ready", Idle)
    monkeypatch.setattr(several, "try_out", lambda mutant, trace, place, most: outcome(mutant, place > 0))
    found = list(several.outcomes_of(list(range(40)), Trace(tmp_path), tmp_path, 1.0, 3))
    assert sorted(each.drawn.line for each in found) == list(range(40))
    monkeypatch.setattr(several, "try_out", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="division by zero"):
        list(several.outcomes_of([1], Trace(tmp_path), tmp_path, 1.0, 2))


class Idle:
    """Has places, and answers nobody."""

    def __init__(self, files, folder, places):
        self.places = range(places)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_blocks_that_no_test_runs_are_listed_with_their_mutants(tmp_path):
    module, path = "roamcast.metrics.ratio", "src/roamcast/metrics/ratio.py"
    trace = traced(tmp_path, module, [1])
    told = list(unrun(trace, path))
    assert len(told) == 1
    assert told[0].startswith(f"{path}:16 [")
    assert list(unrun(traced(tmp_path, module, [1, 2]), path)) == []


def traced(tmp_path, module, blocks, digest="now"):
    trace = Trace(tmp_path)
    trace.digests = {module: "now"}
    row = {"cost": 1.0, "spark": False, "hits": {}}
    tests = {
        "tests/a.py::test_runs_it": row | {"hits": {module: blocks}, "cost": 3.0},
        "tests/a.py::test_beside_it": row,
        "tests/a.py::test_on_spark": row | {"spark": True},
    }
    other = {"tests/b.py::test_elsewhere": row | {"hits": {module: [9]}}}
    sources = {module: digest}
    trace.files = {
        "tests/a.py": {"tests": tests, "sources": sources},
        "tests/b.py": {"tests": other, "sources": sources},
    }
    return trace


def test_what_a_file_of_tests_brings_with_it_is_read_from_the_sources():
    found = imported(Path("tests/golden/test_dialogues.py"))
    assert {"tests.golden.dialogues", "roamcast.routing.catalogue", "roamcast.wire.message"} <= found
    assert "roamcast.testing.mesh" in found
    assert not any(name.startswith("roamcast.pipeline") for name in found)


def test_what_is_run_at_import_is_seen_by_whoever_imports_it(tmp_path):
    trace = traced(tmp_path, "roamcast.wire.lists", [2])
    trace.files["tests/wire/test_bounds.py"] = {
        "tests": {"tests/wire/test_bounds.py::test_it": {"cost": 1.0, "spark": False, "hits": {}}},
        "sources": {},
    }
    assert trace.at_import("roamcast.wire.lists", 0) and not trace.at_import("roamcast.wire.lists", 3)
    assert names(trace.covering("roamcast.wire.lists", 3)) == [[], []]
    trace.collected = {"roamcast.wire.lists": [3]}
    assert "it" in names(trace.covering("roamcast.wire.lists", 3))[1]


def names(groups):
    return [[test.name.partition("::test_")[2] for test in group] for group in groups]


def test_the_tests_that_ran_a_block_come_first_then_those_that_may_have_and_spark_last(tmp_path):
    trace = traced(tmp_path, "roamcast.wire.lists", [2])
    assert names(trace.covering("roamcast.wire.lists", 2)) == [["runs_it"], ["beside_it", "on_spark"]]
    assert names(trace.covering("roamcast.wire.lists", 3)) == [[], []]
    assert names(trace.covering("roamcast.wire.lists", 0)) == [
        ["elsewhere", "runs_it"],
        ["beside_it", "on_spark"],
    ]


def test_when_a_module_has_changed_since_whoever_ran_any_of_it_may_see_it(tmp_path):
    trace = traced(tmp_path, "roamcast.wire.lists", [2], digest="then")
    assert names(trace.covering("roamcast.wire.lists", 3))[0] == ["elsewhere", "runs_it"]


def test_spark_may_run_what_no_test_is_seen_to_run(tmp_path):
    trace = traced(tmp_path, "roamcast.metrics.pairs", [2])
    assert names(trace.covering("roamcast.metrics.pairs", 5)) == [[], ["on_spark"]]


def outcome(line, caught):
    drawn = Drawn("src/roamcast/wire/lists.py", line, "boundary", "a < b", "a <= b", f"line {line}", 1, 0)
    return Outcome(drawn, caught, by="tests/x.py::test_y" if caught else "", tests=4)


def test_the_page_tells_the_share_the_survivors_and_why_some_are_none():
    known = [Equivalent("src/roamcast/wire/lists.py", "line 3", "a < b -> a <= b", "a is never b")]
    result = tally([outcome(1, True), outcome(2, False), outcome(3, False), outcome(4, True)], known)
    assert (result.counted, result.caught, result.share) == (3, 2, 2 / 3)
    assert "have been tried" not in page(result, 17, ("wire",), 4)
    text = page(result, 17, ("wire",), 200, untraced=3, most=25.0)
    assert "fails or 25\nseconds of them" in text and "3 files of fast tests were not asked" in text
    assert "the first 4 have been tried" in text
    assert "Seed 17: **2 of 3 were caught, 66.7 %**; 1 survived, 1 change nothing" in text
    assert "| wire/lists.py:2 | `line 2` | `a < b` -> `a <= b` | 4 |" in text
    assert "| wire/lists.py:3 | `line 3` | `a < b` -> `a <= b` | a is never b |" in text
    assert "| boundary | 4 | 2 |" in text


def test_what_is_called_equivalent_is_a_mutant_of_a_line_that_stands_there():
    for each in equivalents():
        source = Path(each.file).read_text()
        lines = source.splitlines()
        there = [m for m in mutants(source) if lines[m.line - 1].strip() == each.text]
        assert each.change in {" -> ".join(show(source, m.index)) for m in there}, each
        assert len(each.why) > 20


def test_modules_and_tests_are_known_by_their_names():
    assert module_of(Path("src/roamcast/content/box/range_set.py")) == "roamcast.content.box.range_set"
    assert module_of(Path("src/roamcast/content/xpath/__init__.py")) == "roamcast.content.xpath"
    assert FastTest("tests/a/test_b.py::test_c[x::y]", 1.0, False).file == "tests/a/test_b.py"
    assert json.loads(json.dumps([str(path) for path in sources()]))[0].startswith("src/roamcast/campaign/")
