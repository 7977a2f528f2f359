"""The subscription language in scenario files: filters as text."""

from __future__ import annotations

import re

from roamcast.content.filter import Filter
from roamcast.errors import UserError


def read_filter(text: str) -> Filter:
    """The filter that `text` (XPath) means."""
    found = re.fullmatch(r"/(\w[\w.-]*)", text)
    if not found:
        raise UserError(f"{text!r} is not a filter; write it like '/coupon'")
    return Filter(found[1])


def whole_type(name: str) -> Filter:
    """The filter of everything of one event type."""
    return Filter(name)
