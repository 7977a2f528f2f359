"""Known answers of content, line by line."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from .gathered import GATHERED
from .generated import GENERATED
from .spoilt import SPOILT

CONTENT: dict[str, Callable[[], list[str]]] = {**GENERATED, **GATHERED, **SPOILT}
KNOWN = Path(__file__).with_name("known.json")


def digests(lines: list[str]) -> str:
    """Four digits for each line."""
    return " ".join(sha256(line.encode()).hexdigest()[:4] for line in lines)
