"""Errors of messages and of message declarations."""

from __future__ import annotations


class WireError(ValueError):
    """A malformed or unencodable message."""


class DeclarationError(TypeError):
    """An invalid declaration of a message class: a programming error, not a transmission error."""
