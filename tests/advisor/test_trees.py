"""Trees as arrays: predictions agree with a walk from node to node, and contributions add up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roamcast.advisor.trees import LEAF, TreeEnsemble, join_trees

FEATURES = 4
CATEGORIES = 5


@st.composite
def nodes(draw, depth=4):
    """A tree as nested tuples: a leaf's value, or feature, threshold or categories, left and right."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.floats(-5, 5, width=32))
    feature = draw(st.integers(0, FEATURES - 1))
    if feature == 0:
        split = draw(st.sets(st.integers(0, CATEGORIES - 1), min_size=1, max_size=CATEGORIES - 1))
    else:
        split = draw(st.floats(-2, 2, width=32))
    return feature, split, draw(nodes(depth=depth - 1)), draw(nodes(depth=depth - 1))


def flatten(trees):
    rows, roots = [], []

    def add(tree):
        at = len(rows)
        if isinstance(tree, float):
            rows.append([LEAF, 0.0, 0, 0, tree])
            return
        feature, split, left, right = tree
        bits = sum(1 << each for each in split) if feature == 0 else 0
        rows.append([feature, 0.0 if feature == 0 else split, bits, 0, 0.0])
        add(left)
        rows[at][3] = len(rows)
        add(right)

    for tree in trees:
        roots.append(len(rows))
        add(tree)
    columns = list(zip(*rows, strict=True))
    whole = [np.array(column, np.int64) for column in (roots, columns[0], columns[2], columns[3])]
    return TreeEnsemble(whole[0], whole[1], np.array(columns[1]), whole[2], whole[3], np.array(columns[4]))


def walk(tree, row):
    while not isinstance(tree, float):
        feature, split, left, right = tree
        goes_left = int(row[0]) in split if feature == 0 else row[feature] <= split
        tree = left if goes_left else right
    return tree


ROWS = st.lists(
    st.tuples(st.integers(0, CATEGORIES - 1), *[st.floats(-3, 3, width=32)] * (FEATURES - 1)),
    min_size=1,
    max_size=8,
)


@given(st.lists(nodes(), min_size=1, max_size=4), ROWS)
def test_predictions_are_the_sum_of_the_leaves_that_a_walk_reaches(trees, rows):
    rows = np.array(rows, float)
    expected = [sum(walk(tree, row) for tree in trees) for row in rows]
    assert np.allclose(flatten(trees).predict(rows), expected)


@given(st.lists(nodes(), min_size=1, max_size=4), ROWS)
def test_contributions_and_the_mean_add_up_to_the_prediction(trees, rows):
    rows = np.array(rows, float)
    ensemble = flatten(trees).with_means(rows)
    mean, added = ensemble.contributions(rows[0])
    assert np.isclose(mean + added.sum(), ensemble.predict(rows[:1])[0])
    assert np.isclose(mean, ensemble.predict(rows).mean())


@given(st.lists(nodes(), min_size=1, max_size=3), ROWS)
def test_arrays_read_back_predict_the_same(trees, rows):
    rows = np.array(rows, float)
    ensemble = flatten(trees)
    again = TreeEnsemble.from_arrays(ensemble.to_arrays("x"), "x")
    assert (again.predict(rows) == ensemble.predict(rows)).all()


@given(
    st.lists(st.lists(nodes(depth=2), min_size=1, max_size=2), min_size=CATEGORIES, max_size=CATEGORIES), ROWS
)
def test_ensembles_for_one_category_each_join_to_one_that_chooses_by_category(groups, rows):
    rows = np.array(rows, float)
    joined = join_trees(flatten(trees).only_for(0, number) for number, trees in enumerate(groups))
    expected = [sum(walk(tree, row) for tree in groups[int(row[0])]) for row in rows]
    assert np.allclose(joined.predict(rows), expected)


@given(st.lists(nodes(), min_size=1, max_size=4), ROWS)
def test_trees_with_a_column_per_category_predict_the_column_of_the_row(trees, rows):
    rows = np.array(rows, float)
    plain = flatten(trees)
    joint = plain._replace(value=np.outer(plain.value, np.arange(CATEGORIES)))
    assert np.allclose(joint.predict(rows), rows[:, 0] * plain.predict(rows))
    mean, added = joint.contributions(rows[0])
    assert np.isclose(mean + added.sum(), joint.predict(rows[:1])[0])
    again = TreeEnsemble.from_arrays(joint.to_arrays("a", means=False), "a")
    assert np.allclose(again.predict(rows), joint.predict(rows), rtol=1e-5, atol=1e-5)
