"""Errors of JSON documents."""

from roamcast.content.errors import ContentError


class JsonError(ContentError):
    """A JSON document that is malformed, too large or not a valid event."""
