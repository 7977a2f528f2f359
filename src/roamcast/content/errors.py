"""The mistakes a person can make about content."""

from roamcast.errors import UserError


class ContentError(UserError):
    """Content that cannot be: a bad event type, a value of the wrong kind, an impossible combination."""


class FilterError(ContentError):
    """A subscription outside the language: why, and at which character."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        self.reason = reason
        self.text = text
        self.position = position
        start = max(0, position - 30)
        shown = text[start : position + 30]
        super().__init__(f"{reason}, at character {position + 1}: {shown!r}")


class CodecError(ContentError):
    """Bytes that are not exactly what an encoder would have written."""


class FilterTooComplex(ContentError):
    """A question about filters that would take too long to answer."""
