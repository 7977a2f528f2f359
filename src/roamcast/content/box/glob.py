"""Patterns with `*`: matching, inclusion and search for a string that matches some and not others.

A glob is a tuple of the pieces between the stars: ("jazz",) is a literal, ("a", "b") is `a*b`,
("", "x", "") is `*x*`. A case-insensitive glob begins with a mark that no text contains, and its
pieces are in lower case: ("\x01", "jazz") is `jazz` in any case, ("\x01", "", "x", "") is `*x*` or `*X*`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TypeAlias

from roamcast.content.errors import FilterTooComplex

Glob: TypeAlias = tuple[str, ...]

ANYTHING: Glob = ("", "")

CASELESS = "\x01"
"First element of a glob that is compared with the text in lower case."

_LAST_CASED = 0x20000
"Higher code points are ideographs, which have no case."

STEP_LIMIT = 400_000
"Maximum number of automaton steps before a search ends undecided; typical subscriptions need a few."


def tidy(pieces: tuple[str, ...]) -> Glob:
    """Return the same glob without adjacent stars, and with the case mark only if case matters."""
    if pieces[0] == CASELESS:
        plain = tidy(pieces[1:])
        return (CASELESS, *plain) if any(map(_cased, plain)) else plain
    if len(pieces) <= 2:
        return pieces
    return (pieces[0], *(piece for piece in pieces[1:-1] if piece), pieces[-1])


def caseless(glob: Glob) -> Glob:
    """Return the glob of all texts whose lower case matches `glob`."""
    return tidy((CASELESS, *glob))


def lower(text: str) -> str:
    """Return the text in lower case, letter by letter, so that its length stays; U+0130 is unchanged."""
    if text.isascii():
        return text.lower()
    return "".join(map(_lower, text))


def variants(letter: str) -> tuple[str, ...]:
    """Return all letters whose lower case is `letter`."""
    return _variants().get(letter, (letter,))


def fits(glob: Glob, text: str) -> bool:
    """Return whether `text` matches `glob`."""
    first, last = glob[0], glob[-1]
    if first == CASELESS:
        return fits(glob[1:], lower(text))
    if len(glob) == 1:
        return text == first
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in glob[1:-1]:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def includes(wide: Glob, narrow: Glob) -> bool:
    """Return whether every string that matches `narrow` matches `wide`.

    The alphabet is practically infinite: a letter that does not occur in `wide`, substituted for each star of
    `narrow`, can only be matched by a star of `wide`. The same holds for a letter of a case-insensitive
    `narrow` if `wide` is case-sensitive, because `wide` matches only one of the letter's forms.
    """
    if narrow[0] == CASELESS:
        if wide[0] != CASELESS and any(map(_cased, wide)):
            return False
        return fits(wide, "\0".join(narrow[1:]))
    return fits(wide, "\0".join(narrow))


def simple(like: tuple[Glob, ...], unlike: tuple[Glob, ...]) -> bool:
    """Return whether pairwise inclusion decides if some string matches all of `like` and none of `unlike`."""
    if len(like) > 1:
        return False
    return (
        not like
        or like[0][0] != CASELESS
        or not any(no[0] != CASELESS and any(map(_cased, no)) for no in unlike)
    )


def begins(glob: Glob) -> str:
    """Return the common prefix of all matching strings."""
    return _uncased(glob[1]) if glob[0] == CASELESS else glob[0]


def ends(glob: Glob) -> str:
    """Return the common suffix of all matching strings."""
    return _uncased(glob[-1][::-1])[::-1] if glob[0] == CASELESS else glob[-1]


@lru_cache(maxsize=1 << 14)
def witness(like: tuple[Glob, ...], unlike: tuple[Glob, ...]) -> str | None:
    """Return a string that matches all of `like` and none of `unlike`, or None if there is none."""
    for glob in like:
        if len(glob) == 1:
            text = glob[0]
            good = all(fits(g, text) for g in like) and not any(fits(g, text) for g in unlike)
            return text if good else None
    if any(includes(no, yes) for no in unlike for yes in like or (ANYTHING,)):
        return None
    letters = {letter for glob in like + unlike for letter in _letters(glob)}
    fresh = _unused(letters)
    general = _general(like, fresh)
    if (
        general is not None
        and all(fits(g, general) for g in like)
        and not any(fits(g, general) for g in unlike)
    ):
        return general
    if simple(like, unlike) or (general is None and not any(g[0] == CASELESS for g in like)):
        return None
    return _search(like, unlike, [*sorted(letters), fresh])


def _general(like: tuple[Glob, ...], fresh: str) -> str | None:
    """Return the most general candidate for a string that matches all, or None if prefixes or suffixes
    conflict.
    """
    globs = [glob[1:] if glob[0] == CASELESS else glob for glob in like]
    start = max((glob[0] for glob in globs), key=len, default="")
    end = max((glob[-1] for glob in globs), key=len, default="")
    if any(len(glob) == 1 for glob in globs):
        return start
    if not all(start.startswith(glob[0]) and end.endswith(glob[-1]) for glob in globs):
        return None
    return fresh.join([start, *(piece for glob in globs for piece in glob[1:-1]), end])


def _letters(glob: Glob) -> Iterator[str]:
    if glob[0] != CASELESS:
        for piece in glob:
            yield from piece
        return
    for piece in glob[1:]:
        for letter in piece:
            yield from variants(letter)


def _lower(letter: str) -> str:
    found = letter.lower()
    return found if len(found) == 1 else letter


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    """Return all forms of each letter with several forms, by the lower-case form."""
    found: dict[str, list[str]] = {}
    for code in range(_LAST_CASED):
        letter = chr(code)
        if _lower(letter) != letter:
            found.setdefault(_lower(letter), [_lower(letter)]).append(letter)
    return {small: tuple(several) for small, several in found.items()}


def _cased(piece: str) -> bool:
    """Return whether the piece has a letter with another case."""
    if piece.isascii():
        return piece.lower() != piece.upper()
    return any(lower(letter) != letter or letter in _variants() for letter in piece)


def _uncased(piece: str) -> str:
    return next((piece[:at] for at, letter in enumerate(piece) if _cased(letter)), piece)


def _unused(letters: set[str]) -> str:
    for letter in "xyzabcdefghijklmnopqrstuvw":
        if letter not in letters:
            return letter
    code = 0x4E00
    while chr(code) in letters:
        code += 1
    return chr(code)


class _Steps:
    """One glob as a bit-parallel automaton: bit i is set if the first i letters are matched."""

    def __init__(self, glob: Glob) -> None:
        self.stars = 0
        self.advance: dict[str, int] = {}
        place = 0
        any_case = glob[0] == CASELESS
        for number, piece in enumerate(glob[1:] if any_case else glob):
            if number:
                self.stars |= 1 << place
            for letter in piece:
                for form in variants(letter) if any_case else (letter,):
                    self.advance[form] = self.advance.get(form, 0) | 1 << place
                place += 1
        self.final = 1 << place

    def step(self, state: int, letter: str) -> int:
        return (state & self.advance.get(letter, 0)) << 1 | (state & self.stars)


def _search(like: tuple[Glob, ...], unlike: tuple[Glob, ...], alphabet: list[str]) -> str | None:
    wanted, refused = [_Steps(g) for g in like], [_Steps(g) for g in unlike]
    machines = wanted + refused
    begin = (1,) * len(machines)
    seen = {begin}
    steps = 0
    queue: deque[tuple[tuple[int, ...], str]] = deque([(begin, "")])
    while queue:
        states, text = queue.popleft()
        if all(m.final & s for m, s in zip(wanted, states, strict=False)) and not any(
            m.final & s for m, s in zip(refused, states[len(wanted) :], strict=True)
        ):
            return text
        steps += len(alphabet) * len(machines)
        if steps > STEP_LIMIT:
            raise FilterTooComplex(
                "cannot decide whether a text satisfies all these patterns: the step limit was reached"
            )
        for letter in alphabet:
            following = tuple([m.step(s, letter) for m, s in zip(machines, states, strict=True)])
            if following in seen or 0 in following[: len(wanted)]:
                continue
            seen.add(following)
            queue.append((following, text + letter))
    return None
