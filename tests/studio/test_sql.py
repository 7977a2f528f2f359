"""Queries that only read the tables of the result are run; others are refused before Spark sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.errors import UserError
from roamcast.studio.sql import check_query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM metrics",
        "select protocol, avg(delivery_rate) from points join metrics using (run) group by all;",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "SELECT transform(array(1, 2), x -> x + 1), replace('a--b', 'a', 'insert'), p.run FROM points p",
        "SELECT 'reflect(1)', 'csv.x', `odd name` FROM points",
        "DESCRIBE metrics",
        "FROM points SELECT count(*)",
    ],
)
def test_a_query_that_reads_is_run(query):
    assert check_query(query) == query.rstrip(";")


@pytest.mark.parametrize(
    "query",
    [
        "",
        ";",
        "DROP TABLE metrics",
        "SET spark.x=1",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1; DROP TABLE metrics",
        "INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1",
        "FROM metrics INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT *",
        "WITH a AS (SELECT 1) INSERT INTO metrics SELECT * FROM a",
        "SELECT reflect('java.lang.System', 'exit', 1)",
        "SELECT `reflect`('java.lang.System', 'exit', 1)",
        "SELECT JAVA_METHOD('java.lang.Runtime', 'getRuntime')",
        "SELECT TRANSFORM(run) USING 'sh' AS (x) FROM metrics",
        "SELECT TRANSFORM(run) using\n'sh' FROM metrics",
        "SELECT * FROM csv.`/etc/passwd`",
        "SELECT * FROM csv . `/etc/passwd`",
        "SELECT * FROM `csv`.`/etc/passwd`",
        "SELECT * FROM text.secret",
        "SELECT * FROM `org.apache.spark.sql.execution.datasources.csv.CSVFileFormat`.`/etc/passwd`",
        "SELECT 1 AS `x'`, (SELECT count(*) FROM csv.`/etc/passwd`) AS `y'`",
        "SELECT r'\\', (SELECT count(*) FROM csv.`/etc/passwd`), '\\''",
        "SELECT /* /* */ ' */ * FROM csv.`/etc/passwd` WHERE '' = ''",
        "SELECT 1 -- \\\n ' \n FROM csv.`x` -- '",
    ],
)
def test_a_query_that_does_more_is_refused(query):
    with pytest.raises(UserError):
        check_query(query)


@given(
    st.text(max_size=80), st.sampled_from(["reflect", "insert", "csv.x", "csv.`x`", "transform(a) using 'x'"])
)
def test_whatever_stands_around_it_what_is_refused_stays_refused(before, refused):
    """Text that closes its own quotes hides nothing of what follows."""
    plain = before.replace("'", "").replace('"', "").replace("`", "").replace("\\", "")
    with pytest.raises(UserError):
        check_query(f"SELECT {plain} {refused}")


def test_a_query_of_a_result_that_is_not_here_is_refused(client):
    answer = client.post("/api/sql", json={"id": "../..", "query": "SELECT 1"})
    assert answer.status_code == 422 and "no result" in answer.json()["error"]
