"""Frames: the authenticated envelope of every datagram.

A frame is a header (version, network, protocol, sender, epoch, counter) and a body under ChaCha20-Poly1305
with the header as associated data. The key is the network key derived for the epoch; the nonce is sender and
counter, which no node uses twice in an epoch.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from hashlib import blake2b
from struct import Struct
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from roamcast.live.security.counters import FrameCounters, FrameNumber
from roamcast.live.security.keys import NetworkKey
from roamcast.live.security.known_frames import PREFIX_BYTES, FrameOpener, PlainFrameOpener
from roamcast.live.security.replay import ReplayWindow
from roamcast.wire.field import HIGHEST_NODE, NodeId
from roamcast.wire.message import Message

VERSION = 2
"Counts the versions of frames and of the packets in them."
HEADER = Struct(">B4s4sIQQ")
TAG_BYTES = 16
OVERHEAD = HEADER.size + TAG_BYTES
"Bytes of a frame besides its body."
MOST_SENDERS = 1024
"Senders whose counters are remembered; the one silent longest is forgotten."

_NONCE = Struct(">IQ")


def fingerprint_protocol(messages: Iterable[type[Message]]) -> bytes:
    """Return four bytes that differ where the declarations of a router's messages differ."""
    lines = [
        f"{message.number} {message.__name__} "
        + " ".join(f"{name}:{field.describe()}" for name, field in message.fields.items())
        for message in sorted(messages, key=lambda message: message.number)
    ]
    return blake2b("\n".join(lines).encode(), digest_size=4, person=b"roamcast proto").digest()


class Refusal(Enum):
    """Why a datagram was not accepted as a frame."""

    TOO_SHORT = "shorter than a frame"
    OTHER_VERSION = "another version of the frame"
    OTHER_NETWORK = "a frame of another network"
    NOT_AUTHENTIC = "made without the network key, or damaged"
    REPLAYED = "received before, or older than the replay window"
    OTHER_PROTOCOL = "a neighbour that runs another protocol"
    OWN = "sent by this node"
    CLASH = "another node uses the id of this one"


class Frame(NamedTuple):
    """An accepted frame."""

    sender: NodeId
    epoch: int
    counter: int
    body: bytes


class Sealer:
    """Makes frames of one node."""

    def __init__(self, key: NetworkKey, protocol: bytes, sender: NodeId, counters: FrameCounters) -> None:
        self._key = key
        self._protocol = protocol
        self.sender = sender
        self._counters = counters
        self.sealed_epoch = -1
        "The epoch of the latest frame; -1 before the first."
        self._cipher: ChaCha20Poly1305
        self._prefix = b""
        "The header of a frame of this epoch, without its counter."
        self._nonce = sender.to_bytes(4, "big")

    @property
    def epoch(self) -> int:
        """The epoch of the next frame."""
        return self._counters.epoch

    @property
    def upcoming(self) -> int:
        """The counter of the next frame."""
        return self._counters.upcoming

    def seal(self, body: bytes) -> bytes:
        """Return a frame with `body`."""
        counters = self._counters
        counter = counters.take()
        if counters.epoch != self.sealed_epoch:
            self.sealed_epoch = counters.epoch
            self._cipher = ChaCha20Poly1305(self._key.derive(self.sealed_epoch))
            self._prefix = HEADER.pack(
                VERSION, self._key.network, self._protocol, self.sender, self.sealed_epoch, 0
            )[:-8]
        number = counter.to_bytes(8, "big")
        header = self._prefix + number
        return header + self._cipher.encrypt(self._nonce + number, body, header)


class _Sender:
    """What is known of the frames of one sender in its latest epoch."""

    __slots__ = ("cipher", "epoch", "window")

    def __init__(self, epoch: int, cipher: ChaCha20Poly1305, floor: int = -1) -> None:
        self.epoch = epoch
        self.cipher = cipher
        self.window = ReplayWindow(floor)


class Opener:
    """Opens frames of other nodes, and counts what it refuses."""

    def __init__(
        self,
        key: NetworkKey,
        protocol: bytes,
        own: NodeId,
        floors: Mapping[NodeId, FrameNumber] = {},
        most_senders: int = MOST_SENDERS,
        *,
        plain: bool = False,
    ) -> None:
        """`floors`: the highest number that was accepted of each sender before a restart.

        `plain`: without the compiled kernel.
        """
        self._key = key
        self._protocol = protocol
        self._own = own
        prefix = HEADER.pack(VERSION, key.network, protocol, 0, 0, 0)[:PREFIX_BYTES]
        self._known = (PlainFrameOpener if plain else FrameOpener)(prefix, Frame, InvalidTag)
        self.open_known: Callable[[bytes], Any] = self._known.open
        """The short way of `open` for most frames, without what `note_latest` does; None or False for all
        else."""
        self.latest: NodeId = -1
        "The sender of the last frame that was accepted."
        self._most = most_senders
        self.own_epoch = -1
        self.refused: Counter[Refusal] = Counter()
        self.foreign: OrderedDict[NodeId, bytes] = OrderedDict()
        "Neighbours with the network key that run another protocol, with its fingerprint."
        self._senders: OrderedDict[NodeId, _Sender] = OrderedDict()
        for sender, (epoch, counter) in list(floors.items())[-most_senders:]:
            self._add(sender, _Sender(epoch, self._cipher(epoch), counter))

    def floors(self) -> dict[NodeId, FrameNumber]:
        """Return the highest number accepted of each sender."""
        return {node: FrameNumber(each.epoch, each.window.highest) for node, each in self._senders.items()}

    def open(self, data: bytes) -> Frame | Refusal:
        """Return the frame in a datagram, or why it is refused."""
        frame = self.open_known(data)
        if not frame:
            return self.refuse_or_admit(data, frame)
        if frame[0] != self.latest:
            self.note_latest(frame[0])
        return frame  # type: ignore[no-any-return]

    def refuse_or_admit(self, data: bytes, known: bool | None) -> Frame | Refusal:
        """Return what `open` returns for a datagram of which `open_known` returned `known`, and no frame."""
        found = self._open(data) if known is None else Refusal.NOT_AUTHENTIC
        if isinstance(found, Refusal):
            self.refused[found] += 1
        return found

    def note_latest(self, sender: NodeId) -> None:
        """Note which sender's frame was accepted, so that the one silent longest is forgotten first."""
        self._senders.move_to_end(sender)
        self.latest = sender

    def _open(self, data: bytes) -> Frame | Refusal:  # noqa: PLR0911 -- one line a refusal
        if len(data) < OVERHEAD:
            return Refusal.TOO_SHORT
        version, network, protocol, sender, epoch, counter = HEADER.unpack_from(data)
        if version != VERSION:
            return Refusal.OTHER_VERSION
        if network != self._key.network or sender > HIGHEST_NODE:
            return Refusal.OTHER_NETWORK
        known = self._senders.get(sender)
        if known is None or epoch > known.epoch:
            cipher = self._cipher(epoch)
        elif epoch == known.epoch and not known.window.has(counter):
            cipher = known.cipher
        else:
            return Refusal.REPLAYED
        try:
            body = cipher.decrypt(_NONCE.pack(sender, counter), data[HEADER.size :], data[: HEADER.size])
        except InvalidTag:
            return Refusal.NOT_AUTHENTIC
        refused = self._judge(sender, epoch, protocol)
        if refused is not None:
            return refused
        if known is None or known.epoch != epoch:
            known = self._admit(sender, epoch, cipher)
        else:
            self._senders.move_to_end(sender)
        known.window.accept(counter)
        self.latest = sender
        return Frame(sender, epoch, counter, body)

    def _judge(self, sender: NodeId, epoch: int, protocol: bytes) -> Refusal | None:
        """Return why an authentic frame is refused, or None."""
        if sender == self._own:
            return Refusal.OWN if epoch == self.own_epoch else Refusal.CLASH
        if protocol != self._protocol:
            self._note_foreign(sender, protocol)
            return Refusal.OTHER_PROTOCOL
        return None

    def _cipher(self, epoch: int) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(self._key.derive(epoch))

    def _admit(self, sender: NodeId, epoch: int, cipher: ChaCha20Poly1305) -> _Sender:
        admitted = _Sender(epoch, cipher)
        self._add(sender, admitted)
        self._senders.move_to_end(sender)
        if len(self._senders) > self._most:
            forgotten, _ = self._senders.popitem(last=False)
            self._known.forget(forgotten)
        return admitted

    def _add(self, sender: NodeId, admitted: _Sender) -> None:
        self._senders[sender] = admitted
        self._known.admit(sender, admitted.epoch, admitted.cipher.decrypt, admitted.window)

    def _note_foreign(self, sender: NodeId, protocol: bytes) -> None:
        self.foreign[sender] = protocol
        self.foreign.move_to_end(sender)
        if len(self.foreign) > self._most:
            self.foreign.popitem(last=False)
