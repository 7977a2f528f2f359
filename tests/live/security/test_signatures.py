"""Signatures of publications: what is signed passes, whatever differs from it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.live import Config, Node
from roamcast.live.link.packets import Port
from roamcast.live.security import signatures
from roamcast.live.security.identity import Identity
from roamcast.live.security.signatures import (
    FORGED,
    OTHER_KEY,
    PROOF_BYTES,
    UNSIGNED,
    Signatures,
    SignedPublication,
    attach,
    split,
)
from roamcast.routing.flooding import Flood
from roamcast.wire.codec import LONGEST
from roamcast.wire.fast.codec import FastCodec
from roamcast.wire.fast.writer import encode_fast
from roamcast.wire.publication import Publication
from tests.live.medium import Medium
from tests.live.network import ALERT, FIELDS, alert, run

NETWORK = b"net1"
OWNER, OTHER = Identity.generate(), Identity.generate()


def signer(identity=OWNER, network=NETWORK):
    return Signatures(identity, network, sign=True)


def receiver(**settings):
    return Signatures(Identity.generate(), NETWORK, sign=False, **settings)


def published(sequence=1, level=5, publisher=OWNER.node, size=0):
    return Publication(publisher, sequence, alert(level), size)


def arrived(publication, proof):
    """Return the publication as a receiver decodes it."""
    data = encode_fast(Flood(publication))
    return attach(FastCodec((Flood,), {ALERT.fingerprint.hex(): ALERT}).decode(data), proof)


def test_a_signed_publication_passes_and_is_verified_once():
    signed, there = signer().sign(published()), receiver(require=True)
    for _ in range(3):
        copy = arrived(signed, signed.proof)
        assert not copy.verified
        assert there.refusal(copy, True) is None and copy.verified
    assert there.verifications == 1


def test_a_relay_verifies_only_if_it_is_told_to():
    forged = arrived(published(), bytes(PROOF_BYTES))
    assert receiver(require=True).refusal(forged, False) is None
    assert receiver(require=True).refusal(forged, True) == FORGED
    assert receiver(verify=True).refusal(forged, False) == FORGED


def test_a_missing_signature_is_refused_only_where_it_is_required():
    assert receiver().refusal(published(), True) is None
    assert receiver(require=True).refusal(published(), False) == UNSIGNED


@pytest.mark.parametrize(
    "other",
    [published(level=6), published(sequence=2), published(size=9), published(publisher=OTHER.node)],
    ids=["event", "sequence", "size", "publisher"],
)
def test_the_proof_of_one_publication_does_not_serve_another(other):
    proof = signer().sign(published()).proof
    there = receiver()
    assert there.refusal(arrived(published(), proof), True) is None
    assert there.refusal(arrived(other, proof), True) == FORGED


def test_the_key_must_be_that_of_the_publisher_and_of_this_network():
    by_insider = signer(OTHER).sign(published())
    assert receiver().refusal(arrived(by_insider, by_insider.proof), True) == FORGED
    elsewhere = signer(OWNER, b"net2").sign(published())
    assert receiver().refusal(arrived(elsewhere, elsewhere.proof), True) == FORGED


def test_a_second_key_with_the_hash_of_a_known_one_is_refused():
    first, second = signer().sign(published()), signer().sign(published(2))
    there = receiver()
    assert there.refusal(arrived(first, first.proof), True) is None
    assert there.keys == {OWNER.node: OWNER.public}
    there.keys[OWNER.node] = OTHER.public  # as if the other key had the same hash and was first
    assert there.refusal(arrived(second, second.proof), True) == OTHER_KEY
    namesake = Identity.generate()
    namesake.node = OWNER.node
    assert signer(namesake).refusal(arrived(second, second.proof), True) == OTHER_KEY


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(signatures, "MOST_KEYS", 3)
    monkeypatch.setattr(signatures, "MOST_VERIFIED", 5)
    there = receiver()
    for _ in range(8):
        identity = Identity.generate()
        signed = signer(identity).sign(published(publisher=identity.node))
        assert there.refusal(arrived(signed, signed.proof), True) is None
    assert (len(there.keys), len(there.verified)) == (3, 5)


@given(st.integers(0, 8 * PROOF_BYTES - 1))
def test_every_flipped_bit_of_a_proof_is_refused(bit):
    signed = signer().sign(published())
    proof = bytearray(signed.proof)
    proof[bit // 8] ^= 1 << bit % 8
    assert receiver().refusal(arrived(published(), bytes(proof)), True) == FORGED


@given(st.binary(max_size=300))
def test_a_payload_splits_into_a_whole_proof_and_a_message_or_not_at_all(payload):
    found = split(payload)
    assert (found is None) == (len(payload) <= PROOF_BYTES)
    if found is not None:
        assert b"".join(found) == payload and len(found[0]) == PROOF_BYTES


@pytest.mark.parametrize("protocol", ["flooding", "raft-cbr"])
def test_signed_payloads_of_any_bytes_raise_nothing_and_deliver_nothing(protocol):
    async def story():
        config = Config(protocol=protocol, types={"alert": FIELDS}, require_signatures=True)
        async with Node(config, [Medium().bearer(0)]) as node:
            node.subscribe("/alert")
            valid = encode_fast(Flood(published()))
            proof = signer(network=node.key.network).sign(published()).proof

            @given(
                st.binary(max_size=300)
                | st.binary(max_size=60).map(lambda tail: proof + tail)
                | st.tuples(st.integers(0, len(valid) - 1), st.integers(1, 255)).map(
                    lambda change: proof + _changed(valid, *change)
                )
            )
            def check(payload):
                node.received(Port.SIGNED, payload, 5)
                assert node.host.errors == 0 and node.delivered == 0

            check()
            node.received(Port.SIGNED, proof + valid, 5)
            assert node.delivered == (protocol == "flooding")

    run(story)


def _changed(data, at, difference):
    # The hop count, the last byte of a message of flooding, is not part of the publication.
    at = min(at, len(data) - 2)
    return data[:at] + bytes((data[at] ^ difference,)) + data[at + 1 :]


def test_what_was_not_verified_when_it_arrived_is_verified_before_it_is_delivered():
    async def story():
        async with Node(Config(protocol="flooding", types={"alert": FIELDS}), [Medium().bearer(0)]) as node:
            forged = arrived(published(), bytes(PROOF_BYTES))
            node.received(Port.SIGNED, forged.proof + encode_fast(Flood(forged)), 5)  # nobody wants it yet
            assert not node.host.drops
            node.subscribe("/alert")
            node.host.deliver(forged)
            assert node.delivered == 0 and node.host.drops == {FORGED: 1}
            true = signer(network=node.key.network).sign(published())
            node.host.deliver(arrived(true, true.proof))
            assert node.delivered == 1 and node.host.drops == {FORGED: 1}

    run(story)


def test_a_message_that_is_too_large_with_its_proof_is_not_sent():
    async def story():
        async with Node(Config(protocol="flooding", types={"alert": FIELDS}), [Medium().bearer(0)]) as node:
            for size, dropped in ((LONGEST - PROOF_BYTES, 0), (LONGEST - PROOF_BYTES + 1, 1)):
                node.host.broadcast(Flood(signer().sign(published(size=size))))
                assert node.host.drops["too_large"] == dropped

    run(story)


def test_signing_keeps_what_the_publication_says():
    plain = published()
    signed = signer().sign(plain)
    assert isinstance(signed, SignedPublication) and len(signed.proof) == PROOF_BYTES
    assert (signed.id, signed.length, signed.event) == (plain.id, plain.length, plain.event)
    assert encode_fast(Flood(signed)) == encode_fast(Flood(plain))
    assert receiver().sign(plain) is plain
