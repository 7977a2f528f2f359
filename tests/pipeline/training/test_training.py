"""Training on Spark: exported trees agree with Spark's, and a known pattern is learnt."""

import numpy as np
import pandas as pd
import pytest

from roamcast.advisor.features import FEATURES
from roamcast.advisor.model import AdvisorModel
from roamcast.errors import UserError
from roamcast.pipeline.training import fitting, train
from roamcast.pipeline.training.evaluation import best_in_nearest, best_on_average, by_world, regrets
from roamcast.pipeline.training.forest_tasks import export_forest, fit_jointly
from roamcast.pipeline.training.training_table import make_table, split_table, write_table
from roamcast.pipeline.training.tree_export import export_trees
from roamcast.pipeline.training.world_runs import RUN_METRICS

pytestmark = pytest.mark.spark

PROTOCOLS = ["cbr", "flooding", "tpsr"]


def invented_table(worlds=100, seed=1):
    """Worlds in which flooding delivers at light load, and tpsr at heavy load; cbr is the worst."""
    random = np.random.default_rng(seed)
    rows = []
    for world in range(1, worlds + 1):
        features = {name: float(random.uniform(0.1, 1)) for name in FEATURES}
        heavy = features["flooding_load"] > 0.5
        for protocol in PROTOCOLS:
            delivery = {"flooding": 0.3 if heavy else 0.95, "cbr": 0.2, "tpsr": 0.7}[protocol]
            delivery = min(1.0, delivery + random.normal(0, 0.03))
            metrics = dict.fromkeys(RUN_METRICS, 1.0) | {"expected": 100.0, "delivery_rate": delivery}
            metrics |= {"delay_mean": 10 ** random.normal(0, 0.1), "airtime": 5.0 + delivery, "energy": 3.0}
            rows.append(
                {"world": world, "protocol": protocol, "version": "0", "seconds": 60.0} | metrics | features
            )
    return pd.DataFrame(rows)


def light(label):
    from pyspark.ml.regression import RandomForestRegressor

    return RandomForestRegressor(labelCol=label, numTrees=8, maxDepth=4, featureSubsetStrategy="all", seed=1)


def boosted(label):
    from pyspark.ml.regression import GBTRegressor

    return GBTRegressor(labelCol=label, maxIter=4, maxDepth=3, seed=1)


@pytest.mark.parametrize("estimator", [light, boosted])
def test_exported_trees_predict_what_spark_predicts(spark, estimator):
    from pyspark.ml.feature import StringIndexerModel, VectorAssembler

    table = invented_table(60)
    indexer = StringIndexerModel.from_labels(PROTOCOLS, inputCol="protocol", outputCol="number")
    assembler = VectorAssembler(inputCols=["number", *FEATURES], outputCol="features")
    frame = assembler.transform(indexer.transform(spark.createDataFrame(table)))
    model = estimator("delivery_rate").fit(frame)
    theirs = [row["prediction"] for row in model.transform(frame).select("prediction").collect()]
    rows = fitting.make_rows(table, PROTOCOLS)
    trees = export_trees(model)
    assert (trees.categories > 0).any(), "no split by protocol: the test would not see such splits"
    assert np.allclose(trees.predict(rows), theirs, rtol=0, atol=1e-12)


def test_exported_forests_predict_what_scikit_learn_predicts():
    from sklearn.ensemble import RandomForestRegressor

    table = invented_table(60)
    rows = fitting.make_rows(table, PROTOCOLS).astype(np.float32).astype(float)
    forest = RandomForestRegressor(10, max_depth=6, random_state=1).fit(rows[:, 1:], table["delivery_rate"])
    assert np.allclose(export_forest(forest).predict(rows), forest.predict(rows[:, 1:]), rtol=0, atol=1e-12)


def test_a_known_pattern_is_learnt_with_calibrated_intervals(spark, monkeypatch, tmp_path):
    kinds = {"one": fitting.Candidate(light), "joint": fitting.Candidate(None, joint=True)}
    monkeypatch.setattr(train, "CANDIDATES", kinds)
    monkeypatch.setattr(train, "CURVE", (40,))
    model, evaluation = train.train(spark, invented_table(250), kind="joint", ranking="one")
    assert list(evaluation["candidates"]) == ["joint", "one"]
    assert (model.facts["model"], model.facts["ranking"]) == ("joint", "one")
    assert model.ranking.value.ndim == 1 and model.targets["delay"].trees.value.ndim == 2
    choices = evaluation["choices"]
    assert choices["advisor"]["regret"] < choices["best on average"]["regret"] / 3
    assert choices["advisor"]["agreement"] > 0.9
    assert 0.8 < evaluation["metrics"]["delivery"]["coverage"] < 0.98
    assert list(evaluation["curve"]) == ["40"]
    model.save(tmp_path / "model.npz")
    again = AdvisorModel.load(tmp_path / "model.npz")
    features = dict.fromkeys(FEATURES, 0.5) | {"flooding_load": 0.9}
    assert min(PROTOCOLS, key=lambda name: again.rank_key(features, name)) == "tpsr"
    found = again.predict(features, PROTOCOLS, 60.0)["flooding"]
    assert found["delivery"].low < found["delivery"].value < found["delivery"].high
    assert 5 < found["airtime"].value < 7
    _, added = again.targets["delivery"].trees.contributions(again.rows(features, ["flooding"])[0])
    assert np.abs(added[1:]).argmax() == list(FEATURES).index("flooding_load")
    model.save(tmp_path / "again.npz")
    assert (tmp_path / "model.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_too_few_worlds_are_refused(spark):
    with pytest.raises(UserError, match="training worlds; expected at least"):
        train.train(spark, invented_table(20))


def test_a_written_table_is_read_as_it_is(spark, tmp_path):
    table = invented_table(5)
    write_table(table, tmp_path / "runs.parquet")
    again = make_table(spark, str(tmp_path / "runs.parquet")).toPandas()
    assert np.allclose(again[list(FEATURES)], table[list(FEATURES)])
    with pytest.raises(UserError, match="not found"):
        make_table(spark, str(tmp_path / "nothing"))


def test_held_out_worlds_are_those_of_multiples_and_baselines_choose_by_training_alone():
    training, held_out = split_table(invented_table(50))
    assert set(held_out["world"]) == set(range(5, 51, 5))
    assert not set(training["world"]) & set(held_out["world"])
    actual = by_world(held_out, held_out["delivery_rate"])
    assert set(best_on_average(training, actual)) <= set(PROTOCOLS)
    near = best_in_nearest(training, held_out, actual)
    assert (regrets(actual, near) >= 0).all()
    same = best_in_nearest(held_out, held_out, actual)
    assert regrets(actual, same).max() == 0, "the nearest world of a known world is itself"


def test_a_joint_forest_predicts_each_protocol_from_its_own_column():
    table = invented_table(60).drop(index=[4, 11])
    rows = fitting.make_rows(table, PROTOCOLS)
    labels = table["delivery_rate"].to_numpy(float)
    trees = fit_jointly(rows, labels)
    assert trees.value.shape[1] == len(PROTOCOLS)
    heavy = table["flooding_load"] > 0.5
    found = pd.Series(trees.predict(rows), table.index)
    for protocol, light_rate, heavy_rate in (("flooding", 0.95, 0.3), ("tpsr", 0.7, 0.7), ("cbr", 0.2, 0.2)):
        own = table["protocol"] == protocol
        assert found[own & heavy].median() == pytest.approx(heavy_rate, abs=0.06)
        assert found[own & ~heavy].median() == pytest.approx(light_rate, abs=0.06)


def test_intervals_cover_new_errors_of_each_protocol_although_the_distributions_differ():
    random = np.random.default_rng(5)
    protocol = np.repeat([0.0, 1.0], 400)
    covered = []
    for _ in range(60):
        errors = np.where(protocol == 0, random.normal(0, 1, 800), random.exponential(3, 800))
        errors[[3, 500]] = np.nan, np.inf
        ends = train.find_quantiles(protocol, errors, 2)
        new = np.column_stack([random.normal(0, 1, 400), random.exponential(3, 400)])
        covered.append(((ends[:, 0] <= new) & (new <= ends[:, 1])).mean(axis=0))
    assert np.mean(covered, axis=0) == pytest.approx([0.9, 0.9], abs=0.012)
    few = train.find_quantiles(np.zeros(5), np.arange(5.0), 1)
    assert few.tolist() == [[0, 4]], "of few errors, the whole range"
