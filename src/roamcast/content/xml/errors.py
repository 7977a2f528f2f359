"""The mistakes that documents and schemas can hold."""

from roamcast.content.errors import ContentError


class XmlError(ContentError):
    """A document that is not an event, or not fit to be read."""


class SchemaError(ContentError):
    """A schema that cannot be read, or that describes what no event can be."""
