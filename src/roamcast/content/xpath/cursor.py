"""A cursor over the tokens of a subscription, with error messages for unexpected tokens."""

from __future__ import annotations

from roamcast.content.errors import FilterError
from roamcast.content.xpath.tokens import Token, tokenize

_REFUSED = {
    "//": "only paths from the root are supported, not '//'",
    "::": "axes are not supported; use plain paths",
    "..": "'..' is not supported",
    "$": "a parameter can be used only as a value in a comparison",
    "*": "a step must name its element; '*' is supported only inside strings",
    ":": "namespace prefixes are not supported; write the name without prefix",
    "+": "arithmetic is not supported",
}
_WORDS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class Cursor:
    """Reads tokens one by one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.next = 0

    @property
    def peek(self) -> Token:
        """The next token."""
        return self.tokens[self.next]

    def accept(self, sign: str) -> bool:
        """Consume a sign if it is next; return whether it was."""
        token = self.tokens[self.next]
        if token.sort == "sign" and token.text == sign:
            self.next += 1
            return True
        return False

    def keyword(self, keyword: str) -> bool:
        """Consume a keyword if it is next; return whether it was."""
        token = self.tokens[self.next]
        if token.sort == "name" and token.text == keyword:
            self.next += 1
            return True
        return False

    def expect(self, sign: str, reason: str) -> None:
        """Consume a sign, or raise `FilterError`."""
        if not self.accept(sign):
            raise self.error(self.reason(reason))

    def name(self, what: str) -> Token:
        """Consume a name, or raise `FilterError`."""
        token = self.peek
        if token.sort != "name":
            raise self.error(self.reason(f"expected {what}"))
        self.next += 1
        following = self.peek
        if following.sort == "sign" and following.text in ("::", ":"):
            raise self.error(_REFUSED[following.text])
        return token

    def at_call(self, name: str) -> bool:
        """Return whether a call of the function `name` is next."""
        return self.peek.sort == "name" and self.peek.text == name and self.tokens[self.next + 1].text == "("

    def reason(self, expected: str) -> str:
        """Return why the next token is wrong: it is not supported, or something else was expected."""
        token = self.peek
        if token.sort == "sign" and token.text in _REFUSED:
            return _REFUSED[token.text]
        if token.sort == "name" and token.text in ("div", "mod"):
            return _REFUSED["+"]
        if token.sort == "name" and token.text in _WORDS:
            return f"write {_WORDS[token.text]} for {token.text!r}"
        return f"{expected}, not {token.text!r}" if token.text else f"{expected}, not the end"

    def error(self, reason: str, token: Token | None = None) -> FilterError:
        """Return an error at a token, by default the next one."""
        return FilterError(reason, self.text, (token or self.peek).position)
