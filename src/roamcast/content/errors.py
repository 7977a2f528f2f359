"""Errors in event types, events, filters and their encodings."""

from roamcast.errors import UserError


class ContentError(UserError):
    """An invalid event type, value or combination of constraints."""


class FilterError(ContentError):
    """An invalid subscription text, with the reason and the position of the error."""

    def __init__(self, reason: str, text: str, position: int) -> None:
        self.reason = reason
        self.text = text
        self.position = position
        start = max(0, position - 30)
        shown = text[start : position + 30]
        super().__init__(f"{reason}, at character {position + 1}: {shown!r}")


class CodecError(ContentError):
    """Bytes that are not the canonical encoding of a value."""


class FilterTooComplex(ContentError):
    """A relation between filters that cannot be decided within the step limit."""


class UnknownType(CodecError):
    """The encoding names an event type that the reader does not know."""

    def __init__(self, fingerprint: bytes) -> None:
        self.fingerprint = fingerprint
        super().__init__(f"unknown event type (fingerprint {fingerprint.hex()})")
