"""The subscription language, a subset of XPath; its grammar is in docs/subscriptions.md."""

from roamcast.content.xpath.parser import parse
from roamcast.content.xpath.prepared import PreparedFilter

__all__ = ["PreparedFilter", "parse"]
