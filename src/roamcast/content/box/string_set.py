"""Sets of strings: a list of values, or all strings that match some patterns and do not match others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from roamcast.content.box.glob import ANYTHING, CASELESS, Glob, fits, includes, simple, tidy, witness
from roamcast.content.errors import FilterTooComplex


class StringSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The strings that satisfy a constraint, and whether the field may be missing."""

    values: tuple[str, ...] | None = None
    "Exactly these strings, sorted; None for the strings that the patterns below allow."
    like: tuple[Glob, ...] = ()
    unlike: tuple[Glob, ...] = ()
    absent: bool = False

    @classmethod
    def of(cls, values: Iterable[str], absent: bool = False) -> StringSet:
        """Return the set of exactly these strings."""
        return cls(tuple(sorted(set(values))), absent=absent)

    @classmethod
    def where(cls, like: Iterable[Glob] = (), unlike: Iterable[Glob] = (), absent: bool = False) -> StringSet:
        """Return the strings that match all globs of `like` and none of `unlike`, without redundant globs."""
        yes = _narrowest({tidy(g) for g in like} - {ANYTHING})
        refused = {tidy(g) for g in unlike}
        literal = next((g[0] for g in yes if len(g) == 1), None)
        if literal is not None:
            good = all(fits(g, literal) for g in yes) and not any(fits(g, literal) for g in refused)
            return cls((literal,) if good else (), absent=absent)
        if not refused:
            return cls((), absent=absent) if _void(yes, ()) else cls(None, yes, (), absent)
        patterns = _widest({g for g in refused if len(g) > 1})
        # There may be thousands of literals: keep only those that the patterns do not decide.
        words = [
            g
            for g in refused
            if len(g) == 1 and all(fits(p, g[0]) for p in yes) and not any(fits(p, g[0]) for p in patterns)
        ]
        no = tuple(sorted([*patterns, *words]))
        if _void(yes, no):
            return cls((), absent=absent)
        no = tuple(g for g in no if len(g) == 1 or not _void(_sorted(yes, g), ()))
        return cls(None, yes, no, absent)

    @property
    def empty(self) -> bool:
        """Whether the set is empty."""
        return self.values == () and not self.absent

    @property
    def point(self) -> bool:
        """Whether the set has exactly one string and does not include the missing value."""
        return self.values is not None and len(self.values) == 1 and not self.absent

    @property
    def patterns(self) -> int:
        """Number of patterns with a star, which determines the cost of intersections."""
        return sum(len(glob) > 1 for glob in self.like + self.unlike)

    def has(self, value: Any) -> bool:
        """Return whether a stored value (None: missing) is in the set."""
        if value is None:
            return self.absent
        if self.values is not None:
            return value in self.values
        return all(fits(g, value) for g in self.like) and not any(fits(g, value) for g in self.unlike)

    def test(self) -> Callable[[Any], bool]:
        """Return a compiled function that is equivalent to `has`."""
        if self.values is not None:
            return frozenset((*self.values, None) if self.absent else self.values).__contains__
        if len(self.like) == 1 and not self.unlike and not self.absent:
            glob = self.like[0]
            if glob[0] == CASELESS:
                return lambda value: value is not None and fits(glob, value)
            if len(glob) == 2 and not glob[1]:
                return lambda value: value is not None and value.startswith(glob[0])
            if len(glob) == 2 and not glob[0]:
                return lambda value: value is not None and value.endswith(glob[1])
            return lambda value: value is not None and fits(glob, value)
        return self.has

    def meet(self, other: StringSet) -> StringSet:
        """Return the intersection of the two sets."""
        absent = self.absent and other.absent
        if self.values is not None:
            return StringSet(tuple(v for v in self.values if other.has(v)), absent=absent)
        if other.values is not None:
            return StringSet(tuple(v for v in other.values if self.has(v)), absent=absent)
        if not self.like and not self.unlike:
            return StringSet(None, other.like, other.unlike, absent)
        return StringSet.where(self.like + other.like, self.unlike + other.unlike, absent)

    def join(self, other: StringSet) -> StringSet | None:
        """Return the union of the two sets, or None if it cannot be represented as one set of patterns."""
        absent = self.absent or other.absent
        if self.values is not None and other.values is not None:
            return StringSet.of(self.values + other.values, absent)
        for a, b in ((self, other), (other, self)):
            if a.values is not None:
                missing = [v for v in a.values if not b.has(v)]
                excluded = {(v,) for v in missing}
                if excluded <= set(b.unlike):
                    return StringSet.where(b.like, set(b.unlike) - excluded, absent)
            if b.values is None and a._holds_strings_of(b):
                return StringSet(a.values, a.like, a.unlike, absent)
        return None

    def outside(self, everything: StringSet) -> list[StringSet]:
        """Return `everything` minus this set, as disjoint sets."""
        absent = everything.absent and not self.absent
        if self.values is not None:
            rest = [StringSet.where((), [(v,) for v in self.values])]
        else:
            rest = []
            kept: list[Glob] = []
            for glob in self.like:
                rest.append(StringSet.where(kept, [glob]))
                kept.append(glob)
            words: list[Glob] = [g for g in self.unlike if len(g) == 1]
            rest.append(StringSet.of(word for word, *_ in words if all(fits(g, word) for g in kept)))
            for glob in self.unlike:
                if len(glob) > 1:
                    rest.append(StringSet.where([*kept, glob], words))
                    words.append(glob)
            rest = [texts for texts in rest if not texts.empty]
        if not absent:
            return rest
        if not rest:
            return [StringSet((), absent=True)]
        return [msgspec.structs.replace(rest[0], absent=True), *rest[1:]]

    def covers(self, other: StringSet) -> bool:
        """Return whether this set contains `other`; False if undecided."""
        if other.absent and not self.absent:
            return False
        return self._holds_strings_of(other)

    def intersects(self, other: StringSet) -> bool:
        """Return whether the two sets have a common element; True if undecided."""
        if self.absent and other.absent:
            return True
        if self.values is not None:
            return any(map(other.has, self.values))
        if other.values is not None:
            return any(map(self.has, other.values))
        return not self.meet(other).empty

    def example(self) -> Any:
        """Return some string in the set (None: missing)."""
        if self.values is not None:
            return self.values[0] if self.values else None
        return witness(self.like, self.unlike)

    def _holds_strings_of(self, other: StringSet) -> bool:
        if other.values is not None:
            return all(
                value in self.values if self.values is not None else self.has(value) for value in other.values
            )
        if self.values is not None:
            return _void(other.like, _sorted(other.unlike, *((v,) for v in self.values)))
        for glob in self.like:
            if not any(includes(glob, yes) for yes in other.like):
                unlike = _sorted(other.unlike, glob)
                # If fewer than two patterns must match at the same time, no search is needed.
                if simple(other.like, unlike) or not _void(other.like, unlike):
                    return False
        for glob in self.unlike:
            if not any(includes(no, glob) for no in other.unlike):
                like = _sorted(other.like, glob)
                if simple(like, other.unlike) or not _void(like, other.unlike):
                    return False
        return True


def _sorted(globs: tuple[Glob, ...], *more: Glob) -> tuple[Glob, ...]:
    return tuple(sorted({*globs, *more}))


def _void(like: tuple[Glob, ...], unlike: tuple[Glob, ...]) -> bool:
    if simple(like, unlike):  # the usual case, which needs no search
        yes = like[0] if like else ANYTHING
        return any(includes(no, yes) for no in unlike)
    try:
        return witness(like, unlike) is None
    except FilterTooComplex:
        return False


def _narrowest(globs: set[Glob]) -> tuple[Glob, ...]:
    return tuple(sorted(g for g in globs if not any(o != g and includes(g, o) for o in globs)))


def _widest(globs: set[Glob]) -> tuple[Glob, ...]:
    return tuple(sorted(g for g in globs if not any(o != g and includes(o, g) for o in globs)))
