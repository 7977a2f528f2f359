"""Import roamcast from its source: atheris cannot instrument what an editable install's own loader loads."""

import sys
from pathlib import Path

sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
