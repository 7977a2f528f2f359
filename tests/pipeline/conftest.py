import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "lake"))

HERE = Path(__file__).parent
FOLDERS = [HERE, *(folder for folder in sorted(HERE.iterdir()) if any(folder.glob("test_*.py")))]

# Python workers import the invented runners of these tests, and what tests hand to them, by name.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [*map(str, FOLDERS), os.environ.get("PYTHONPATH", "")])
)


@pytest.fixture(scope="session")
def spark():
    from roamcast.pipeline.spark.session import open_session

    with open_session("local[2]") as session:
        yield session
