"""Patterns with `*`, and the question whether some string matches these and none of those.

A glob is a tuple of the pieces between the stars: ("jazz",) is the word itself, ("a", "b") is `a*b`,
("", "x", "") is `*x*`.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import TypeAlias

from roamcast.content.errors import Undecided

Glob: TypeAlias = tuple[str, ...]

ANYTHING: Glob = ("", "")

STEP_LIMIT = 400_000
"Letters tried on a pattern before the question is left undecided; real subscriptions need a handful."


def tidy(pieces: tuple[str, ...]) -> Glob:
    """The same glob without stars beside stars."""
    if len(pieces) <= 2:
        return pieces
    return (pieces[0], *(piece for piece in pieces[1:-1] if piece), pieces[-1])


def fits(glob: Glob, text: str) -> bool:
    """Whether `text` matches `glob`."""
    first, last = glob[0], glob[-1]
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
    """Whether every string that matches `narrow` matches `wide`.

    The alphabet is as good as infinite: a letter that `wide` does not know, put for each star
    of `narrow`, can only be swallowed by a star of `wide`.
    """
    return fits(wide, "\0".join(narrow))


@lru_cache(maxsize=1 << 14)
def witness(like: tuple[Glob, ...], unlike: tuple[Glob, ...]) -> str | None:
    """A string that matches all of `like` and none of `unlike`, or None if there is none."""
    for glob in like:
        if len(glob) == 1:
            text = glob[0]
            good = all(fits(g, text) for g in like) and not any(fits(g, text) for g in unlike)
            return text if good else None
    if any(includes(no, yes) for no in unlike for yes in like or (ANYTHING,)):
        return None
    start = max((glob[0] for glob in like), key=len, default="")
    end = max((glob[-1] for glob in like), key=len, default="")
    if not all(start.startswith(glob[0]) and end.endswith(glob[-1]) for glob in like):
        return None
    letters = {letter for glob in like + unlike for piece in glob for letter in piece}
    fresh = _unused(letters)
    general = fresh.join([start, *(piece for glob in like for piece in glob[1:-1]), end])
    if not any(fits(glob, general) for glob in unlike):
        return general
    if len(like) <= 1:
        return None
    return _search(like, unlike, [*sorted(letters), fresh])


def _unused(letters: set[str]) -> str:
    for letter in "xyzabcdefghijklmnopqrstuvw":
        if letter not in letters:
            return letter
    code = 0x4E00
    while chr(code) in letters:
        code += 1
    return chr(code)


class _Steps:
    """One glob as a bit-parallel automaton: bit i is set when the first i letters are matched."""

    def __init__(self, glob: Glob) -> None:
        self.stars = 0
        self.advance: dict[str, int] = {}
        place = 0
        for number, piece in enumerate(glob):
            if number:
                self.stars |= 1 << place
            for letter in piece:
                self.advance[letter] = self.advance.get(letter, 0) | 1 << place
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
            raise Undecided("these patterns are too tangled to tell whether a text matches them all")
        for letter in alphabet:
            following = tuple([m.step(s, letter) for m, s in zip(machines, states, strict=True)])
            if following in seen or 0 in following[: len(wanted)]:
                continue
            seen.add(following)
            queue.append((following, text + letter))
    return None
