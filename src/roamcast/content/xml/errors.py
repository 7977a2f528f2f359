"""Errors of XML documents and of schemas."""

from roamcast.content.errors import ContentError


class XmlError(ContentError):
    """A document that is malformed, too large or not a valid event."""


class SchemaError(ContentError):
    """A schema that cannot be read, or that an event type cannot represent."""
