"""A cursor over the tokens of a subscription, with the complaints that a wrong token brings."""

from __future__ import annotations

from roamcast.content.errors import FilterError
from roamcast.content.xpath.tokens import Token, tokenize

_REFUSED = {
    "//": "only paths from the root are understood, not '//'",
    "::": "axes are not understood; write plain paths",
    "..": "a path cannot climb with '..'",
    "$": "a parameter stands for a value, where one is compared",
    "*": "a step must name its element; '*' is understood only inside strings",
    ":": "namespace prefixes are not understood; write the bare name",
    "+": "arithmetic is not understood",
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
        """The token to be read next."""
        return self.tokens[self.next]

    def accept(self, sign: str) -> bool:
        """Read a sign if it is next."""
        token = self.tokens[self.next]
        if token.sort == "sign" and token.text == sign:
            self.next += 1
            return True
        return False

    def word(self, word: str) -> bool:
        """Read a word if it is next."""
        token = self.tokens[self.next]
        if token.sort == "name" and token.text == word:
            self.next += 1
            return True
        return False

    def expect(self, sign: str, reason: str) -> None:
        """Read a sign, or complain."""
        if not self.accept(sign):
            raise self.error(self.reason(reason))

    def name(self, what: str) -> Token:
        """Read a name, or complain."""
        token = self.peek
        if token.sort != "name":
            raise self.error(self.reason(f"expected {what}"))
        self.next += 1
        following = self.peek
        if following.sort == "sign" and following.text in ("::", ":"):
            raise self.error(_REFUSED[following.text])
        return token

    def at_call(self, name: str) -> bool:
        """Whether a function is called next."""
        return self.peek.sort == "name" and self.peek.text == name and self.tokens[self.next + 1].text == "("

    def reason(self, expected: str) -> str:
        """Why the next token is wrong: that we never take it, or what should stand here."""
        token = self.peek
        if token.sort == "sign" and token.text in _REFUSED:
            return _REFUSED[token.text]
        if token.sort == "name" and token.text in ("div", "mod"):
            return _REFUSED["+"]
        if token.sort == "name" and token.text in _WORDS:
            return f"write {_WORDS[token.text]} for {token.text!r}"
        return f"{expected}, not {token.text!r}" if token.text else f"{expected}, not the end"

    def error(self, reason: str, token: Token | None = None) -> FilterError:
        """A complaint about a token, the next one unless told."""
        return FilterError(reason, self.text, (token or self.peek).position)
