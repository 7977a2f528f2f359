"""Network keys: one symmetric key for all nodes of a network, kept in a file."""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from roamcast.files import read_text
from roamcast.live.errors import LiveError

KEY_BYTES = 32
_PREFIX = "roamcast-network-key-1 "
_LONGEST_FILE = 200
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class NetworkKey:
    """The symmetric key of a network."""

    def __init__(self, secret: bytes, *, is_open: bool = False) -> None:
        if len(secret) != KEY_BYTES:
            raise LiveError(f"a network key of {len(secret)} bytes; {KEY_BYTES} are expected")
        self.secret = secret
        self.is_open = is_open
        "Whether the key is public: frames are then protected against bit errors, not against attackers."

    @classmethod
    def of_open_network(cls, name: str) -> NetworkKey:
        """Return the public key of the open network `name`, the same everywhere."""
        if not _NAME.fullmatch(name):
            raise LiveError(
                f"network {name!r}: expected 1 to 64 letters, digits, dots, dashes or underscores"
            )
        return cls(
            blake2b(name.encode(), digest_size=KEY_BYTES, person=b"roamcast open").digest(), is_open=True
        )

    @cached_property
    def network(self) -> bytes:
        """Four bytes that name the network in each frame; they disclose nothing of the key."""
        return blake2b(self.secret, digest_size=4, person=b"roamcast net").digest()

    def derive(self, epoch: int) -> bytes:
        """Return the frame key of an epoch: a nonce may repeat in another epoch."""
        return blake2b(
            epoch.to_bytes(8, "big"), key=self.secret, digest_size=32, person=b"roamcast frame"
        ).digest()


def read_key(path: Path) -> NetworkKey:
    """Return the network key in a file that `write_new_key` wrote."""
    text = read_text(path, _LONGEST_FILE).strip()
    try:
        if not text.startswith(_PREFIX):
            raise ValueError
        return NetworkKey(b64decode(text.removeprefix(_PREFIX), validate=True))
    except ValueError:
        raise LiveError(f"{path}: not a network key; `roamcast key new {path}` writes one") from None


def write_new_key(path: Path) -> NetworkKey:
    """Write a fresh random network key to a new file that only its owner can read, and return the key."""
    key = NetworkKey(os.urandom(KEY_BYTES))
    write_secret(path, f"{_PREFIX}{b64encode(key.secret).decode()}\n")
    return key


def write_secret(path: Path, text: str) -> None:
    """Write `text` to a new file with mode 0600; an existing file is an error."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise LiveError(f"{path}: the file exists already; keys are not overwritten") from None
    except OSError as error:
        raise LiveError(f"{path}: cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
