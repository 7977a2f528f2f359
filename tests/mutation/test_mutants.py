"""Mutants are small faults in code, drawn from a seed and loaded without changing the tree."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mutation.__main__ import equivalents, page
from mutation.covering import choose
from mutation.draw import Drawn, draw, sources
from mutation.sites import mutants, mutate, show
from mutation.trial import Outcome, run, try_out

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
    for path in sources()[::20]:
        source = path.read_text()
        for mutant in mutants(source)[::40]:
            compile(mutate(source, mutant.index), str(path), "exec", dont_inherit=True)


def test_a_seed_draws_the_same_mutants_each_time_over_all_packages_by_their_lines():
    drawn = draw(5, 200)
    some = sources()[::12]
    assert draw(5, 20, some) == draw(5, 20, some) != draw(6, 20, some)
    assert len({(mutant.file, mutant.line) for mutant in drawn}) == 200
    packages = Counter(mutant.package for mutant in drawn)
    assert {"content", "routing", "sim", "scenario", "why", "lake", "ingest", "report", "cli"} <= set(
        packages
    )
    assert packages["content"] > packages["wire"]
    assert len({mutant.operator for mutant in drawn}) >= 7
    for mutant in drawn[::20]:
        lines = Path(mutant.file).read_text().splitlines()
        assert lines[mutant.line - 1].strip() == mutant.text
        assert mutant.statement <= mutant.line


def test_the_command_draws_from_the_files_that_are_asked_for():
    options = ["--dry", "--seed", "5", "--count", "3000", "--only", "metrics/"]
    said = subprocess.check_output([sys.executable, "-m", "mutation", *options], text=True)
    seed, *drawn = said.splitlines()
    assert seed == "seed 5"
    assert drawn
    assert all(line.startswith("src/roamcast/metrics/") for line in drawn)


def ratio(before, after):
    """The mutant of metrics/ratio.py with this change."""
    path = Path("src/roamcast/metrics/ratio.py")
    return next(each for each in draw(1, 10**6, [path]) if (each.before, each.after) == (before, after))


def test_a_mutant_is_loaded_by_every_process_and_the_tree_stays_as_it_is(tmp_path):
    test = tmp_path / "test_ratio.py"
    ask = "from roamcast.metrics.ratio import divide; print(divide(6, 3))"
    test.write_text(
        f"import subprocess, sys\n\ndef test_divide():\n    said = subprocess.check_output("
        f"[sys.executable, '-c', {ask!r}], text=True)\n    assert said.split() == ['2.0']\n"
    )
    drawn = ratio("number / by", "number * by")
    before = Path(drawn.file).read_bytes()
    assert run([str(test)], 60.0) == (0, "")
    assert try_out(drawn, [str(test)], 0.0, tmp_path).by.endswith("test_ratio.py::test_divide")
    assert Path(drawn.file).read_bytes() == before
    assert try_out(drawn, [], 0.0, tmp_path) == Outcome(drawn, 0)


def test_the_quickest_tests_that_run_the_line_come_first_and_what_does_not_fit_is_left_out():
    seconds = {"a": 3.0, "b": 1.0, "c": 0.5, "d": 9.0, "e": 0.1}
    assert choose([{"a", "b"}, {"c", "e"}], seconds, 5.0) == ["b", "a", "e", "c"]
    assert choose([{"a", "b"}, {"c", "e"}], seconds, 1.2) == ["b", "e"]
    assert choose([{"d"}, {"c"}], seconds, 1.0) == ["d"]
    assert choose([set(), set()], seconds, 1.0) == []


def outcome(line, by):
    drawn = Drawn("src/roamcast/wire/lists.py", line, line, "boundary", "a < b", "a <= b", f"line {line}", 0)
    return Outcome(drawn, 4, by)


def test_the_page_has_the_share_the_survivors_and_the_equivalent_mutants():
    known = {("src/roamcast/wire/lists.py", "line 3", "a < b -> a <= b"): "a is never b"}
    text, share = page([outcome(1, "t"), outcome(2, ""), outcome(3, ""), outcome(4, "t")], 17, known)
    assert share == pytest.approx(2 / 3)
    assert "Seed 17: **2 of 3 were detected, 66.7 %**;\n1 survived, 1 do not change" in text
    assert "| wire | 3 | 2 |" in text
    assert "| wire/lists.py:2 | `line 2` | `a < b` -> `a <= b` | 4 tests |" in text
    assert "| wire/lists.py:3 | `line 3` | `a < b` -> `a <= b` | a is never b |" in text


def test_what_is_called_equivalent_is_a_mutant_of_a_line_that_stands_there():
    for (file, text, change), why in equivalents().items():
        source = Path(file).read_text()
        lines = source.splitlines()
        there = [each for each in mutants(source) if lines[each.line - 1].strip() == text]
        assert change in {" -> ".join(show(source, each.index)) for each in there}, (file, text)
        assert len(why) > 20
