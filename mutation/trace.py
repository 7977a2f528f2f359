"""Which test runs which block: traced once for each file of tests, and again when that file has changed."""

from __future__ import annotations

import ast
import hashlib
import json
import marshal
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mutation.blocks import probe
from mutation.child import Tracing, run

ROOMS = ("content", "routing", "facts", "campaign", "pipeline", "metrics", "wire")
NEAR = (
    "content",
    "wire",
    "routing",
    "facts",
    "stories",
    "golden",
    "laws",
    "testing",
    "sim",
    "why",
    "campaign",
    "pipeline",
)
"Rooms of tests in the order in which they are traced; the others come after."
LONGEST = 1800.0
"Seconds for one file of tests."
SPARK_ROOMS = ("campaign", "pipeline", "metrics", "facts")
"What runs in the workers of Spark too, where no block can tell its test."


class FastTest(NamedTuple):
    """A fast test, and what it takes."""

    name: str
    cost: float
    spark: bool

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.name.partition("::")[0]


def module_of(path: Path) -> str:
    """The name under which a file is imported."""
    parts = path.with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources() -> list[Path]:
    """The modules that mutants are drawn from."""
    return sorted(path for room in ROOMS for path in Path("src/roamcast", room).rglob("*.py"))


def digest(*paths: Path) -> str:
    """What some files say."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def test_digest(file: Path) -> str:
    """What a file of tests says, with what stands beside and above it for several of them."""
    folders = [folder for folder in file.parents if folder.parts[:1] == ("tests",) and len(folder.parts) > 1]
    found = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    beside = [path for path in found if not path.name.startswith("test_")]
    return digest(file, *beside, Path("tests/conftest.py"))


class Trace:
    """What the fast tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.files: dict[str, dict] = {}  # type: ignore[type-arg]
        self.digests: dict[str, str] = {}

    def refresh(self, say: Callable[[str], None], most: int | None = None) -> None:
        """Trace the files of tests that have no valid trace, or so many of them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.digests = {module_of(path): digest(path) for path in sources()}
        stale = []
        for file in sorted(Path("tests").rglob("test_*.py"), key=_nearest_first):
            known = self._kept(file)
            if known is None:
                stale.append(file)
            else:
                self.files[str(file)] = known
        stale = stale[:most]
        probed = self._probe() if stale else self.folder
        for number, file in enumerate(stale, 1):
            say(f"tracing {number} of {len(stale)}: {file}")
            self._trace(file, probed, say)

    def _probe(self) -> Path:
        """Write every module with probes into a folder."""
        probed = self.folder / "probed"
        shutil.rmtree(probed, ignore_errors=True)
        (probed / "hits").mkdir(parents=True)
        for path in sources():
            tree = ast.parse(path.read_text())
            probe(tree)
            code = compile(tree, str(path.resolve()), "exec", dont_inherit=True)
            (probed / f"{module_of(path)}.code").write_bytes(marshal.dumps(code))
        return probed

    def covering(self, module: str, block: int) -> list[list[FastTest]]:
        """Tests that can see a block, in groups: those that ran it, then those that only may have.

        A fixture or a cache that serves several tests is run by the first of them, so the others in its file
        may see it too; what is run at import is seen by whoever imports it; and so are the rooms that Spark's
        workers import. Blocks of a module that has changed since are others now: whoever ran any may see it.
        """
        surely: set[FastTest] = set()
        maybe: set[FastTest] = set()
        for known in self.files.values():
            tests = {
                FastTest(name, row["cost"], row["spark"]): row["hits"] for name, row in known["tests"].items()
            }
            whole = block == 0 or known["sources"].get(module) != self.digests[module]
            ran = {
                test for test, hits in tests.items() if module in hits and (whole or block in hits[module])
            }
            surely |= ran
            if ran or (whole and module in known["imported"]):
                maybe |= tests.keys()
            if module.split(".")[1] in SPARK_ROOMS:
                maybe |= {test for test in tests if test.spark}
        return [_in_order(surely), _in_order(maybe - surely)]

    def forget(self, tests: set[str]) -> None:
        """Leave some tests out from now on."""
        for known in self.files.values():
            known["tests"] = {name: row for name, row in known["tests"].items() if name not in tests}

    def _kept(self, file: Path) -> dict | None:  # type: ignore[type-arg]
        kept = self._place(file)
        known = json.loads(kept.read_text()) if kept.exists() else None
        return known if known and known["digest"] == test_digest(file) else None

    def _place(self, file: Path) -> Path:
        return self.folder / (str(file).replace("/", ".") + ".json")

    def _trace(self, file: Path, probed: Path, say: Callable[[str], None]) -> None:
        told = self.folder / "told.json"
        told.unlink(missing_ok=True)
        log = self._place(file).with_suffix(".log")
        run(probed, [str(file)], Tracing(probed, told), log, LONGEST)
        if not told.exists():
            say(f"  {file} could not be traced: {log}")
            return
        found = json.loads(told.read_text())
        failed = sorted(
            name for name, row in found["tests"].items() if row.get("failed") or "hits" not in row
        )
        for name in failed:
            say(f"  {name} fails without a mutant and is left out: {log}")
            del found["tests"][name]
        modules = {name for row in found["tests"].values() for name in row["hits"]} | set(found["imported"])
        used = {name: self.digests[name] for name in sorted(modules)}
        found |= {"digest": test_digest(file), "sources": used}
        if not failed:
            self._place(file).write_text(json.dumps(found))
        self.files[str(file)] = found


def _nearest_first(file: Path) -> tuple[int, Path]:
    """Tests of the rooms themselves, then those of what stands on them, which take longer."""
    room = file.parts[1]
    return (NEAR.index(room) if room in NEAR else len(NEAR)), file


def _in_order(tests: set[FastTest]) -> list[FastTest]:
    """The cheapest first, Spark last."""
    return sorted(tests, key=lambda test: (test.spark, test.cost, test.name))
