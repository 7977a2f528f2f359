"""Bloom filters over stable hashes, sized for a given false-positive rate."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

import msgspec

from roamcast.content.errors import ContentError

MAX_BITS = 1 << 16


def stable_hash(role: str, text: str) -> int:
    """Return a 32-bit hash that is the same on every machine; `role` separates texts of different
    purposes.
    """
    return int.from_bytes(hashlib.blake2b(f"{role}{text}".encode(), digest_size=4).digest(), "big")


class BloomShape(msgspec.Struct, frozen=True):
    """Number of bits and hash functions of a Bloom filter; only filters of equal shape can be merged."""

    bits: int = 384
    hashes: int = 4

    def __post_init__(self) -> None:
        if not (1 <= self.bits <= MAX_BITS and 1 <= self.hashes <= 32):
            raise ContentError(f"a Bloom filter cannot have {self.bits} bits and {self.hashes} hashes")

    @classmethod
    def for_rate(cls, elements: int, rate: float) -> BloomShape:
        """Return the smallest shape with the given false-positive rate for the given number of elements."""
        if elements < 1 or not 0 < rate < 1:
            raise ContentError(
                f"{elements} elements at a rate of {rate}: expected at least one, and 0 < rate < 1"
            )
        bits = math.ceil(-elements * math.log(rate) / math.log(2) ** 2)
        return cls(bits, max(1, round(bits / elements * math.log(2))))

    def rate(self, elements: int) -> float:
        """Return the theoretical false-positive rate with the given number of elements."""
        return float((1 - math.exp(-self.hashes * elements / self.bits)) ** self.hashes)

    def mask(self, hashed: int) -> int:
        """Return the bits of one element as a mask."""
        return _mask(self.bits, self.hashes, hashed)


@lru_cache(maxsize=1 << 16)
def _mask(bits: int, hashes: int, hashed: int) -> int:
    # splitmix64, seeded with the hash. Double hashing would be faster, but its arithmetic progressions
    # overlap in small filters and doubled the measured false-positive rate.
    mask = 0
    state = hashed
    for _ in range(hashes):
        state = state + 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        mask |= 1 << (mixed ^ mixed >> 31) % bits
    return mask
