"""Run every bench, or those named, each in a process of its own: `python -m bench [NAME ...]`."""

import pkgutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import bench


def names() -> list[str]:
    """Return the modules of this package that can be run."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return sorted(name for name in found if not name.startswith("_") and _has_main(name))


def _has_main(name: str) -> bool:
    """Whether a module has a `main`; it is not imported, so that this process stays small."""
    spec = find_spec(f"bench.{name}")
    return spec is not None and "\ndef main(" in Path(str(spec.origin)).read_text(encoding="utf-8")


def main(chosen: list[str]) -> int:
    """Run the benches `chosen`, or all; return the number of those that failed."""
    failed = []
    for name in chosen or names():
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
