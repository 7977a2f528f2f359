"""The mistakes that JSON documents can hold."""

from roamcast.content.errors import ContentError


class JsonError(ContentError):
    """A document that is not an event, or not fit to be read."""
