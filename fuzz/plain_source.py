"""Import roamcast from its source: atheris cannot instrument what an editable install's own loader loads.

With ROAMCAST_FUZZ_FAST it is not instrumented, and several times as fast: inputs are then mutated without
knowing which code they reach, from those that were found to reach some when it was.
"""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import atheris

sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))


def instrumented() -> AbstractContextManager[object]:
    """Within it roamcast is imported."""
    if "ROAMCAST_FUZZ_FAST" in os.environ:
        return nullcontext()
    found: AbstractContextManager[object] = atheris.instrument_imports(include=["roamcast"])
    return found
