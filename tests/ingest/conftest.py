import shutil
import subprocess
from pathlib import Path

import pytest

TRACES = Path(__file__).parent / "traces"


@pytest.fixture
def ns2(tmp_path):
    """Run `line.tcl` in ns-2 and give its trace."""
    if shutil.which("ns") is None:
        pytest.skip("ns-2 is not installed")

    def run(name, **options):
        target = tmp_path / f"{name}.tr"
        words = [f"{key}={value}" for key, value in (options | {"trace": target}).items()]
        subprocess.run(["ns", str(TRACES / "line.tcl"), *words], check=True, capture_output=True, timeout=60)
        return target

    return run
