"""A node's identity: an Ed25519 key pair, of whose public key the node id is a hash."""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import blake2b
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from roamcast.files import read_text
from roamcast.live.errors import LiveError
from roamcast.live.security.keys import write_secret
from roamcast.wire.field import NodeId

PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64
_PREFIX = "roamcast-identity-1 "
_LONGEST_FILE = 200


def node_id(public: bytes) -> NodeId:
    """Return the node id of a public key: 31 bits of its hash."""
    return int.from_bytes(blake2b(public, digest_size=4, person=b"roamcast node").digest(), "big") >> 1


class Identity:
    """The key pair of a node."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw()
        self.node = node_id(self.public)

    @classmethod
    def generate(cls) -> Identity:
        """Return a fresh identity."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Return the identity in a file, which is written first if there is none."""
        if not path.exists():
            identity = cls.generate()
            write_secret(path, f"{_PREFIX}{b64encode(identity._private.private_bytes_raw()).decode()}\n")
            return identity
        text = read_text(path, _LONGEST_FILE).strip()
        try:
            if not text.startswith(_PREFIX):
                raise ValueError
            return cls(
                Ed25519PrivateKey.from_private_bytes(b64decode(text.removeprefix(_PREFIX), validate=True))
            )
        except ValueError:
            raise LiveError(f"{path}: not an identity; remove the file to get a new one") from None

    def sign(self, data: bytes) -> bytes:
        """Return the signature of `data`."""
        return self._private.sign(data)


def verify(public: bytes, signature: bytes, data: bytes) -> bool:
    """Return whether `signature` of `data` is by the owner of the public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
