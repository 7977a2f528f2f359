"""Signatures of publications: no node of the network can publish under the id of another.

A signed publication keeps its proof, the publisher's public key and signature, wherever a router keeps it.
The host sends the proof before each message that carries the publication.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

import msgspec

from roamcast.live.security.identity import PUBLIC_BYTES, SIGNATURE_BYTES, Identity, node_id, verify
from roamcast.wire.field import NodeId
from roamcast.wire.message import Message, unwrap
from roamcast.wire.publication import Publication, PublicationField

PROOF_BYTES = PUBLIC_BYTES + SIGNATURE_BYTES
MOST_KEYS = 1024
"Publishers whose key is remembered (32 B each); the one not heard longest is forgotten."
MOST_VERIFIED = 4096
"Verified publications of which a hash is remembered (16 B each); the oldest is forgotten."
UNSIGNED = "unsigned"
FORGED = "bad_signature"
OTHER_KEY = "other_key"
_CONTEXT = b"roamcast publication 1 "
_FIELD = PublicationField()


class _Names(dict[type[Message], "str | None"]):
    """The field with the publication, by message class; None if there is none."""

    def __missing__(self, kind: type[Message]) -> str | None:
        found = (name for name, field in kind.fields.items() if isinstance(field, PublicationField))
        name = self[kind] = next(found, None)
        return name


_names = _Names()


class SignedPublication(Publication, frozen=True, gc=False):
    """A publication with the proof that came with it."""

    proof: bytes = b""
    verified: bool = False


def carried(message: Message) -> Publication | None:
    """Return the publication that a message or the message in its envelope carries, if any."""
    if message.envelope is not None:
        message = getattr(message, message.envelope)
    name = _names[type(message)]
    return None if name is None else getattr(message, name)


def attach(message: Message, proof: bytes) -> SignedPublication | None:
    """Add the proof to the publication of a message just decoded; None if it carries no publication."""
    inner = unwrap(message)
    name = _names[type(inner)]
    if name is None:
        return None
    plain: Publication = getattr(inner, name)
    signed = SignedPublication(plain.publisher, plain.sequence, plain.event, plain.size, proof=proof)
    msgspec.structs.force_setattr(inner, name, signed)
    return signed


def split(payload: bytes) -> tuple[bytes, bytes] | None:
    """Return the proof and the message of a signed payload; None if it is too short."""
    return (payload[:PROOF_BYTES], payload[PROOF_BYTES:]) if len(payload) > PROOF_BYTES else None


class Signatures:
    """Signs the publications of a node and verifies those of others."""

    def __init__(
        self, identity: Identity, network: bytes, *, sign: bool, verify: bool = False, require: bool = False
    ) -> None:
        """`verify`: also what the node only relays; `require`: refuse publications without a signature."""
        self._identity = identity
        self._network = network
        self._sign = sign
        self._verify = verify
        self.required = require
        self.keys: OrderedDict[NodeId, bytes] = OrderedDict()
        "The first key of each publisher."
        self.verified: OrderedDict[bytes, None] = OrderedDict()
        "Hashes of verified publications."
        self.verifications = 0
        "How often a signature was verified."

    def sign(self, publication: Publication) -> Publication:
        """Return a publication of this node, signed if the node signs."""
        if not self._sign:
            return publication
        proof = self._identity.public + self._identity.sign(self._signed_bytes(publication))
        return SignedPublication(
            publication.publisher,
            publication.sequence,
            publication.event,
            publication.size,
            proof=proof,
            verified=True,
        )

    def refusal(self, publication: Publication, wanted: bool) -> str | None:
        """Return why a publication is not accepted, or None; `wanted`: by an application of this node."""
        if not isinstance(publication, SignedPublication):
            return UNSIGNED if self.required else None
        if publication.verified or not (wanted or self._verify):
            return None
        public, signature = publication.proof[:PUBLIC_BYTES], publication.proof[PUBLIC_BYTES:]
        data = self._signed_bytes(publication)
        digest = blake2b(publication.proof + data, digest_size=16).digest()
        if digest not in self.verified:
            publisher = publication.publisher
            if node_id(public) != publisher:
                return FORGED
            known = self._identity.public if publisher == self._identity.node else self.keys.get(publisher)
            if known is not None and known != public:
                return OTHER_KEY
            self.verifications += 1
            if not verify(public, signature, data):
                return FORGED
            self._remember(publisher, public, digest)
        msgspec.structs.force_setattr(publication, "verified", True)
        return None

    def _remember(self, publisher: NodeId, public: bytes, digest: bytes) -> None:
        self.keys[publisher] = public
        self.keys.move_to_end(publisher)
        if len(self.keys) > MOST_KEYS:
            self.keys.popitem(last=False)
        self.verified[digest] = None
        if len(self.verified) > MOST_VERIFIED:
            self.verified.popitem(last=False)

    def _signed_bytes(self, publication: Publication) -> bytes:
        out = bytearray(_CONTEXT + self._network)
        _FIELD.write(out, publication)
        return bytes(out)
