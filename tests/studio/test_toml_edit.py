"""Changes of keys in TOML text: the data changes as asked, and the rest of the text stays."""

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.studio.editing.toml_edit import EditError, set_key, to_toml
from tests.studio.client import ROOT

SCENARIOS = [file.read_text() for file in sorted((ROOT / "scenarios").glob("*.toml"))]

scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(values)
@example("\x7f\x00\u2028\ud7ff'\"\\")
@example({"a b": [{"": 1e300}]})
def test_a_value_is_written_as_toml_reads_it(value):
    assert tomllib.loads(f"x = {to_toml(value)}")["x"] == value


def paths(data, before=()):
    for key, value in data.items():
        yield [*before, key]
        if isinstance(value, dict):
            yield from paths(value, (*before, key))


@given(st.sampled_from(SCENARIOS), st.data())
def test_a_known_key_is_changed_and_everything_else_stays(text, data):
    path = data.draw(st.sampled_from([each for each in paths(tomllib.loads(text)) if len(each) > 1]))
    value = data.draw(scalars)
    try:
        changed = set_key(text, path, value)
    except EditError:
        return  # a whole table is not replaced by a value
    wanted = tomllib.loads(text)
    here = wanted
    for name in path[:-1]:
        here = here[name]
    here[path[-1]] = value
    assert tomllib.loads(changed) == wanted
    kept = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in changed.splitlines() if line.startswith("#")] == kept


@pytest.mark.parametrize("text", SCENARIOS)
def test_every_scalar_of_the_shipped_scenarios_can_be_changed_by_a_form(text):
    data = tomllib.loads(text)
    for path in paths(data):
        value = data
        for name in path:
            value = value[name]
        tables = isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict))
        if not tables:
            assert tomllib.loads(set_key(text, path, "other")) != data, path


@given(st.text(max_size=60), st.lists(st.text(max_size=6), min_size=1, max_size=4), st.none() | scalars)
@example("a = 1\n[a.b]\n", ["a", "c"], 1)
@example("[[x]]\ny = 1\n", ["x", "y"], 2)
@example('a = """\nb = 1\n"""\n', ["b"], 2)
def test_any_text_is_changed_as_asked_or_refused(text, path, value):
    try:
        changed = set_key(text, path, value)
    except EditError:
        return
    here = tomllib.loads(changed)
    for name in path[:-1]:
        here = here.get(name, {})
    assert here.get(path[-1]) == value


def test_a_removed_key_leaves_its_neighbours():
    assert set_key("a = 1 # one\nb = 2\n", ["a"], None) == "b = 2\n"
    assert set_key("a = 1 # one\n", ["a"], 2) == "a = 2 # one\n"
    assert set_key("s = 'a # b' # c\n", ["s"], "x") == 's = "x" # c\n'
