"""Compact, bounded and canonical binary encodings of events and filters.

Both begin with the type's fingerprint, so that nodes with different schemas reject each other's data instead
of misreading it. A decoder verifies its result by encoding it again.
"""

from roamcast.content.codec.event_bytes import decode_event, encode_event
from roamcast.content.codec.filter_bytes import decode_filter, encode_filter
from roamcast.content.codec.primitives import MAX_BYTES

__all__ = ["MAX_BYTES", "decode_event", "decode_filter", "encode_event", "encode_filter"]
