"""Fast encoding and decoding of messages, compiled from their declarations.

`roamcast.wire.codec` is the reference implementation: bytes, messages and errors are the same.
"""
