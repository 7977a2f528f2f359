"""What can be wrong with bytes from the air, or with a message that is to go there."""

from __future__ import annotations


class WireError(ValueError):
    """Bytes that no message has, or a message that has no bytes."""


class DeclarationError(TypeError):
    """A message class that cannot be written: the author's mistake, not the air's."""
