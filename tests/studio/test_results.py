"""A question asked through the interface: its progress, its answer, causes, replay, tables and queries."""

import csv
import io
import json

import pytest

from roamcast.lake.reading import read_run
from roamcast.results.results_folder import ResultsFolder
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.names import read_publication
from roamcast.why.presentation.tally import tally

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def asked(client, folder):
    """The states of a question from start to end, and its result."""
    text = (folder / "mine.toml").read_text().replace('name = "shopping"', f"name = '{HOSTILE}'")
    for old, new in (('duration = "800 s"', 'duration = "60 s"'), ('warmup = "200 s"', 'warmup = "20 s"')):
        text = text.replace(old, new)
    (folder / "short.toml").write_text(text)
    body = {"world": "local/short.toml", "protocols": ["cbr", "flooding"], "seeds": 2}
    job = client.post("/api/ask", json=body).json()
    stream = client.get(f"/api/jobs/{job['id']}/events").text
    states = [json.loads(part.removeprefix("data: ")) for part in stream.split("\n\n") if part]
    assert states[-1]["status"] == "done", "\n".join(states[-1]["lines"])
    response = client.get("/api/result", params={"id": states[-1]["result"]})
    assert response.status_code == 200, response.text
    return states, response.json()


def test_progress_and_runs_are_told_while_they_end(asked):
    states, _ = asked
    done = [state["progress"]["done"] for state in states if state["progress"]]
    assert done == sorted(done) and done[-1] == 4
    cells = {(cell["protocol"], cell["seed"]): cell["delivery_rate"] for cell in states[-1]["cells"]}
    assert cells.keys() == {(name, seed) for name in ("cbr", "flooding") for seed in (1, 2)}


def test_the_answer_has_the_metrics_of_the_tables(asked, folder):
    states, result = asked
    store = ResultsFolder(folder / states[-1]["result"])
    wanted = {row["run"]: row["delivery_rate"] for row in store.read_table("metrics").to_pylist()}
    assert {row["run"]: row["delivery_rate"] for row in result["by_seed"]} == wanted
    assert {cell["run"]: cell["delivery_rate"] for cell in states[-1]["cells"]} == wanted
    assert result["record"]["points"][0]["answer"]["sentences"]
    assert result["command"] == states[-1]["command"] and result["question"]["world"] == "local/short.toml"


def test_causes_and_explanations_are_those_of_why(asked, client, folder):
    states, result = asked
    id, run = states[-1]["result"], result["by_seed"][0]["run"]
    facts = read_run(str(folder / id), run)
    causes = client.get("/api/why", params={"id": id, "run": run}).json()
    assert causes["events"] == json.loads(json.dumps(tally(facts).record()["events"]))
    first = causes["events"]["causes"][0]
    asked_for = {"id": id, "run": run, "event": first["about"], "node": first["node"]}
    story = client.get("/api/explain", params=asked_for).json()["story"]
    assert story == explain_event(facts, read_publication(first["about"]), first["node"]).story


def test_report_replay_and_tables_are_served_in_a_sandbox(asked, client):
    _, result = asked
    runs = [("run", f"{row['protocol']}:{row['run']}") for row in result["by_seed"] if row["seed"] == 1]
    replay = client.get(f"{result['files']}/replay.html", params=runs)
    report = client.get(f"{result['files']}/report.html")
    for page in (replay, report):
        assert page.status_code == 200 and "sandbox" in page.headers["content-security-policy"]
        assert HOSTILE not in page.text
    rows = list(csv.DictReader(io.StringIO(client.get(f"{result['files']}/csv/metrics.csv").text)))
    assert len(rows) == 4
    assert client.get(f"{result['files']}/csv/..%2fplan.csv").status_code in (404, 422)
    wrong = [("run", "cbr:../../x")]
    assert client.get(f"{result['files']}/replay.html", params=wrong).status_code == 422
    assert client.get(f"{result['files']}/replay.html", params=runs * 3).status_code == 422


def test_a_query_is_answered_from_the_lake_of_the_result(asked, client):
    id = asked[0][-1]["result"]
    tables = client.get("/api/tables", params={"id": id}).json()
    assert {"metrics", "deliveries", "points"} <= tables.keys()
    query = "SELECT protocol, count(*) AS runs FROM points GROUP BY protocol ORDER BY protocol"
    response = client.post("/api/sql", json={"id": id, "query": query}).json()
    assert response["rows"] == [{"protocol": "cbr", "runs": 2}, {"protocol": "flooding", "runs": 2}]
    wrong = client.post("/api/sql", json={"id": id, "query": "SELECT nothing FROM points"})
    assert wrong.status_code == 422 and "invalid query" in wrong.json()["error"]


def test_the_history_has_the_question_and_its_command(asked, client):
    results = {row["id"]: row for row in client.get("/api/results").json()["results"]}
    row = results[asked[0][-1]["result"]]
    assert row["finished"] and row["answer"] and row["command"] == asked[0][-1]["command"]
    assert HOSTILE in row["title"]
