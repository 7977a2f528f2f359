"""Every question of the cookbook is answered, and rightly where there is another way to know."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cookbook.md"
QUESTIONS = dict(re.findall(r"^## (\d+)\..*?^```sql\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE))
STREET = Path(__file__).parents[1] / "golden" / "street.toml"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The answer to each question about a few small runs, and what else is known of these."""
    import roamcast
    from roamcast.pipeline.query import run_query
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.views import open_tables

    folder = tmp_path_factory.mktemp("runs")
    results = {}
    for name in ("flooding", "cbr"):
        results[name] = roamcast.run(STREET, name, settings={"duration": "40 s"})
        results[name].facts.write(folder / name)
    with open_session("local[2]", {"spark.sql.shuffle.partitions": "2"}) as spark:
        tables = open_tables(str(folder))
        found = {number: run_query(spark, tables, query).collect() for number, query in QUESTIONS.items()}
        found["comments"] = spark.sql("describe deliveries").collect()
    return {number: [row.asDict() for row in rows] for number, rows in found.items()}, results


def test_there_are_ten_questions():
    assert list(QUESTIONS) == [str(number) for number in range(1, 11)]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_every_question_has_an_answer(answers):
    found, _ = answers
    assert not [number for number in QUESTIONS if not found[number] and number not in ("9",)]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_answers_are_what_the_metrics_say(answers):
    found, results = answers
    by_protocol = {row["protocol"]: row for row in found["1"]}
    for protocol in ("flooding", "cbr"):
        rate = results[protocol].measures["delivery_rate"]
        assert by_protocol[protocol]["delivered"] == pytest.approx(rate, abs=5e-4)
    airtime = sum(row["airtime"] for row in found["5"])
    assert airtime == pytest.approx(
        sum(sum(result.facts["transmissions"]["airtime"].to_pylist()) for result in results.values()),
        abs=0.05,
    )
    causes = sum(row["often"] for row in found["8"])
    assert causes == sum(len(result.facts["drops"]) for result in results.values())
    expected = sum(row["expected"] for row in found["10"])
    assert expected == sum(len(result.facts["expectations"]) for result in results.values())
    assert sum(row["deliveries"] for row in found["3"]) == sum(
        len(result.facts["deliveries"]) for result in results.values()
    )


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_columns_tell_what_they_mean(answers):
    comments = {row["col_name"]: row["comment"] for row in answers[0]["comments"]}
    assert comments["time"] == "time since the start of the run [s]"
