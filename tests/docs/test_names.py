"""Names of files and classes in backticks on pages of the documentation exist in the repository."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
PAGES = [HERE / "README.md", HERE / "CONTRIBUTING.md", *sorted((HERE / "docs").rglob("*.md"))]
FOLDERS = ("src", "tests", "bench", "validation", "mutation", "docs")
CODE = [
    file for folder in FOLDERS for file in (HERE / folder).rglob("*.py*") if file.suffix in (".py", ".pyi")
]
EXAMPLES = {"FILE.py", "file.py", "gossip.py", "router.py", "test_gossip.py"}
"Files that a reader writes."

_QUOTED = re.compile(r"`([\w./]+)`")
_METHOD = re.compile(r"([A-Z][a-z]\w*)\.(_?[a-z]\w*)")


def members() -> dict[str, set[str]]:
    """Return the names that occur in the body of each class, and in those of its bases."""
    found: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for file in CODE:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                words = re.findall(r"\w+", ast.unparse(node))
                found.setdefault(node.name, set()).update(words)
                bases.setdefault(node.name, set()).update(
                    re.findall(r"\w+", " ".join(map(ast.unparse, node.bases)))
                )
    for _ in range(5):
        for name, above in bases.items():
            for base in above & found.keys():
                found[name] |= found[base]
    return found


@pytest.fixture(scope="module")
def known():
    return {file.name for file in CODE}, members()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HERE)))
def test_files_and_methods_that_a_page_names_exist(page, known):
    files, classes = known
    missing = []
    for quoted in _QUOTED.findall(re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        if quoted.endswith(".py") and Path(quoted).name not in files | EXAMPLES:
            missing.append(quoted)
        method = _METHOD.fullmatch(quoted)
        if method and method[1] in classes and method[2] not in classes[method[1]]:
            missing.append(quoted)
        if method and method[1] not in classes:
            missing.append(quoted)
    assert not missing
