"""The subscription language: an XPath subset; its grammar is docs/subscriptions.md."""

from roamcast.content.xpath.parser import parse

__all__ = ["parse"]
