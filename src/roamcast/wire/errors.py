"""Errors of messages and of message declarations."""

from __future__ import annotations


class WireError(ValueError):
    """A malformed or unencodable message."""


class UnknownEventType(WireError):
    """A message names an event type that the reader does not know."""

    def __init__(self, fingerprint: bytes) -> None:
        self.fingerprint = fingerprint
        super().__init__(f"unknown event type (fingerprint {fingerprint.hex()})")


class DeclarationError(TypeError):
    """An invalid declaration of a message class: a programming error, not a transmission error."""
