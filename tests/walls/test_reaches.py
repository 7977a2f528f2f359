"""Tests use public names. What CONTRIBUTING allows beyond that is counted here, and may only become less."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
PUBLIC = {"_exit", "_replace", "_repr_html_"}
"Names with an underscore that belong to a public interface: of os, of named tuples, of notebooks."


def is_limit(node):
    """Whether a call of `monkeypatch.setattr` changes a limit, which has a name in capitals."""
    names = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
    return any(str(name).rpartition(".")[2].isupper() for name in names)


def reaches(tree):
    """The replaced functions and methods, and the private attributes of others, that a module uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr":
            if not is_limit(node):
                yield "replaced"
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            if ast.unparse(node.value) not in ("self", "cls") and node.attr not in PUBLIC:
                yield "private"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("roamcast"):
            for each in node.names:
                if each.name.startswith("_") and each.name != "_kernel":
                    yield "private"


def count(package):
    paths = sorted((TESTS / package).rglob("*.py"))
    return Counter(found for path in paths for found in reaches(ast.parse(path.read_text())))


MOST = {
    "api": (0, 2),
    "campaign": (1, 0),
    "cli": (2, 0),
    "content": (5, 22),
    "facts": (2, 0),
    "lake": (4, 5),
    "laws": (0, 4),
    "live": (0, 6),
    "pipeline": (22, 67),
    "replay": (0, 1),
    "report": (1, 2),
    "routing": (0, 9),
    "scenario": (2, 2),
    "sim": (7, 0),
    "stories": (1, 3),
    "testing": (0, 2),
    "validation": (1, 1),
    "why": (0, 1),
}
"For each package: how many replaced functions, how many private attributes."


def test_no_package_of_tests_reaches_further_than_it_does():
    packages = sorted(path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__")
    for name in packages:
        found, (replaced, private) = count(name), MOST.get(name, (0, 0))
        assert found["replaced"] <= replaced, f"tests/{name} replaces {found['replaced']} functions"
        assert found["private"] <= private, f"tests/{name} uses {found['private']} private attributes"


def test_reaches_are_counted():
    text = "monkeypatch.setattr(a, 'b', 1)\nmonkeypatch.setattr(a, 'LIMIT', 1)\nx._y\nself._z\nos._exit(0)\n"
    assert list(reaches(ast.parse(text))).count("replaced") == 1
    assert list(reaches(ast.parse(text))).count("private") == 1
    assert list(reaches(ast.parse("from roamcast.sim import _a, b, _kernel"))) == ["private"]
