"""Whether the validation page is of the current code."""

from __future__ import annotations

import re

MADE_BY = re.compile(r"\(code ([0-9a-f]{12})\)")


def made_by(page: str) -> str | None:
    """Return the digest of the code that a page was measured with; None if it names none, or several."""
    found = set(MADE_BY.findall(page))
    return found.pop() if len(found) == 1 else None


def stale(page: str, current: str) -> str | None:
    """Return a message if a page was measured with other code than `current`; None if it is up to date."""
    made = made_by(page)
    if made == current:
        return None
    return (
        f"docs/validation.md was measured with code {made or 'of no known digest'}, the current code is"
        f" {current}: run `make validate` (or `python -m validation`) before you cite its numbers"
    )
