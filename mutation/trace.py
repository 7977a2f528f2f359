"""Which test runs which block: traced once for each file of tests, and again when that file has changed."""

from __future__ import annotations

import ast
import hashlib
import json
import marshal
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mutation.blocks import probe
from mutation.child import Tracing, run
from mutation.imports import imported

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
LONGEST = 7200.0
"Seconds of processor time for all files of tests."
COLLECTED = "collected.json"
WHOLE = (0, 1, 5)
"Exit codes of a pytest that came to its end: all passed, some failed, there were none."
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
        self.collected: dict[str, list[int]] = {}
        "The blocks that were run while tests were collected, by module."

    def refresh(self, say: Callable[[str], None], among: tuple[str, ...] = ("tests/",)) -> None:
        """Trace the files of tests that have no valid trace, of those whose path begins so."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.digests = {module_of(path): digest(path) for path in sources()}
        stale = []
        for file in sorted(Path("tests").rglob("test_*.py"), key=_nearest_first):
            known = self._kept(file)
            if known is None and str(file).startswith(among):
                stale.append(file)
            elif (known := self._read(file)) is not None:
                self.files[str(file)] = known
        probed = self._probe() if stale else self.folder
        if stale:
            self._trace(stale, probed, say)
        if (self.folder / COLLECTED).exists():
            self.collected = json.loads((self.folder / COLLECTED).read_text())

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
        at_import = self.at_import(module, block)
        for file, known in self.files.items():
            tests = {
                FastTest(name, row["cost"], row["spark"]): row["hits"] for name, row in known["tests"].items()
            }
            whole = at_import or known["sources"].get(module, self.digests[module]) != self.digests[module]
            ran = {
                test for test, hits in tests.items() if module in hits and (whole or block in hits[module])
            }
            surely |= ran
            if ran or (whole and module in imported(Path(file))):
                maybe |= tests.keys()
            if module.split(".")[1] in SPARK_ROOMS:
                maybe |= {test for test in tests if test.spark}
        return [_in_order(surely), _in_order(maybe - surely)]

    def at_import(self, module: str, block: int) -> bool:
        """Whether a block is run when its module is imported, or may be."""
        return block == 0 or block in self.collected.get(module, ())

    def untraced(self) -> int:
        """How many files of tests have not been traced, or have changed since."""
        return sum(str(file) not in self.files for file in Path("tests").rglob("test_*.py"))

    def forget(self, tests: set[str]) -> None:
        """Leave some tests out from now on."""
        for known in self.files.values():
            known["tests"] = {name: row for name, row in known["tests"].items() if name not in tests}

    def _kept(self, file: Path) -> dict | None:  # type: ignore[type-arg]
        known = self._read(file)
        return known if known and not known["failed"] else None

    def _read(self, file: Path) -> dict | None:  # type: ignore[type-arg]
        kept = self._place(file)
        known = json.loads(kept.read_text()) if kept.exists() else None
        return known if known and known["digest"] == test_digest(file) else None

    def _place(self, file: Path) -> Path:
        return self.folder / (str(file).replace("/", ".") + ".json")

    def _trace(self, files: list[Path], probed: Path, say: Callable[[str], None]) -> None:
        """Trace some files in one process, which writes down each as it ends."""
        traced = iter(range(1, len(files) + 1))

        def done(file: str, tests: dict[str, dict[str, Any]]) -> None:
            say(f"traced {next(traced)} of {len(files)}: {file}")
            failed = sorted(name for name, row in tests.items() if row.get("failed") or "hits" not in row)
            kept = {name: row for name, row in tests.items() if name not in failed}
            modules = sorted({name for row in kept.values() for name in row["hits"]})
            used = {name: self.digests[name] for name in modules}
            found = {"tests": kept, "failed": failed, "sources": used}
            self._place(Path(file)).write_text(json.dumps(found | {"digest": test_digest(Path(file))}))

        tracing = Tracing(probed, self.folder / COLLECTED, done)
        log = self.folder / "trace.log"
        ended = run(probed, [str(file) for file in files], tracing, log, LONGEST)
        for file in files:
            known = self._read(file)
            if known is None and ended in WHOLE:  # it has no fast tests
                done(str(file), {})
                known = self._read(file)
            if known is None:
                say(f"  {file} could not be traced: {log}")
                continue
            for name in known["failed"]:
                say(f"  {name} fails without a mutant and is left out: {log}")
            self.files[str(file)] = known


def _nearest_first(file: Path) -> tuple[int, Path]:
    """Tests of the rooms themselves, then those of what stands on them, which take longer."""
    room = file.parts[1]
    return (NEAR.index(room) if room in NEAR else len(NEAR)), file


def _in_order(tests: set[FastTest]) -> list[FastTest]:
    """The cheapest first, Spark last."""
    return sorted(tests, key=lambda test: (test.spark, test.cost, test.name))
