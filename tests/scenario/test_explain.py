"""Where an error stands in a file: the line of a key, found in a table made once for each text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from roamcast.scenario.explain import DEEPEST, line_of

NAMES = st.sampled_from(["a", "b", "c", "d"])
PATHS = st.lists(NAMES, max_size=4)
LINES = st.one_of(
    PATHS.map(lambda path: f"[{'.'.join(path)}]"),
    PATHS.map(lambda path: f"[[ {'.'.join(path)} ]]"),
    PATHS.filter(bool).map(lambda path: f"{'.'.join(path)} = 1"),
    NAMES.map(lambda name: f'"{name}" = 1'),
    st.sampled_from(["", "# comment", "  ]", '"unfinished']),
)


def slow_line_of(text, path, exact):
    """The line that shares most with the path, the first of several: one pass over the text for each path."""
    best, table = None, []
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]", line):
            keys = table = [part.strip(" \"'") for part in header[1].split(".")]
        elif pair := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            keys = table + [part.strip("\"'") for part in pair[1].split(".")]
        else:
            continue
        shared = min(len(keys), len(path))
        if keys[:shared] == path[:shared] and (best is None or shared > best[0]):
            best = (shared, number)
    return best[1] if best and not (exact and best[0] < len(path)) else None


@given(st.lists(LINES, max_size=12), PATHS, st.booleans())
def test_the_line_is_that_of_a_pass_over_the_text(lines, path, exact):
    text = "\n".join(lines)
    assert line_of(text, path, exact=exact) == slow_line_of(text, path, exact)


def test_a_key_of_very_many_parts_takes_no_table_of_all_its_beginnings():
    deep = ".".join("a" * 100_000)
    assert line_of(f"{deep} = 1", ["a"] * DEEPEST) == 1
    assert line_of(f"{deep} = 1", ["b"]) is None
