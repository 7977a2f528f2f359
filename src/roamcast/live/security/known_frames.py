"""Frames of senders that are known already: header, replay window and cipher in one call.

`FrameOpener` is compiled; without the kernel it is `PlainFrameOpener`.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from roamcast.live.security.replay import ReplayWindow
from roamcast.wire.field import NodeId

__all__ = ["PREFIX_BYTES", "FrameOpener", "PlainFrameOpener"]

PREFIX_BYTES = 9
"Bytes of version, network and protocol."
_HEADER_BYTES = 29
_COUNTER_AT = 21
_LEAST = _HEADER_BYTES + 16
_NUMBERS = Struct(">IQQ")

Decrypt: TypeAlias = Callable[[bytes, bytes, bytes], bytes]
"Takes nonce, encrypted body and header; returns the body."


class PlainFrameOpener:
    """Opens frames of known senders."""

    def __init__(self, prefix: bytes, frame: type[Any], invalid: type[Exception]) -> None:
        """`prefix`: how all frames begin; `invalid` is raised by ciphers."""
        if len(prefix) != PREFIX_BYTES:
            raise ValueError("the prefix of a frame has 9 bytes")
        self._prefix = prefix
        self._frame = frame
        self._invalid = invalid
        self._senders: dict[NodeId, tuple[int, Decrypt, ReplayWindow]] = {}

    def admit(self, sender: NodeId, epoch: int, decrypt: Decrypt, window: ReplayWindow) -> None:
        """Open frames of a sender in an epoch from now on."""
        self._senders[sender] = epoch, decrypt, window

    def forget(self, sender: NodeId) -> None:
        """Open no more frames of a sender."""
        self._senders.pop(sender, None)

    def open(self, data: bytes) -> Any:
        """Return the frame in a datagram; None if unusual, False if not authentic."""
        if data[:PREFIX_BYTES] != self._prefix or len(data) < _LEAST:
            return None
        sender, epoch, counter = _NUMBERS.unpack_from(data, PREFIX_BYTES)
        known = self._senders.get(sender)
        if known is None or epoch != known[0] or known[2].has(counter):
            return None
        header = data[:_HEADER_BYTES]
        nonce = data[PREFIX_BYTES : PREFIX_BYTES + 4] + header[_COUNTER_AT:]
        try:
            body = known[1](nonce, data[_HEADER_BYTES:], header)
        except self._invalid:
            return False
        known[2].accept(counter)
        return self._frame(sender, epoch, counter, body)


if TYPE_CHECKING:
    from roamcast._kernel import FrameOpener
else:
    try:
        from roamcast._kernel import FrameOpener
    except ImportError:
        FrameOpener = PlainFrameOpener
