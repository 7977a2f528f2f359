"""The subscription language: an XPath subset; its grammar is docs/subscriptions.md."""

from roamcast.content.xpath.parser import parse
from roamcast.content.xpath.prepared import PreparedFilter

__all__ = ["PreparedFilter", "parse"]
