"""Events and filters as bytes: few, bounded, and only one way to write each.

Both begin with the type's fingerprint, so that two nodes whose schemas differ refuse each other's
words instead of misreading them. A decoder checks its result by encoding it again.
"""

from roamcast.content.codec.event_bytes import decode_event, encode_event
from roamcast.content.codec.filter_bytes import decode_filter, encode_filter
from roamcast.content.codec.primitives import MAX_BYTES

__all__ = ["MAX_BYTES", "decode_event", "decode_filter", "encode_event", "encode_filter"]
