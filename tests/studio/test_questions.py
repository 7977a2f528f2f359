"""Questions become command lines; nothing else is run, whatever a request or a folder says."""

import json
import shlex

import pytest

from roamcast.errors import UserError
from roamcast.studio.questions import Question, find_options, read_question
from roamcast.studio.workspace import Workspace


def ask(folder, **given):
    return Question(**{"world": "local/mine.toml", "protocols": ["cbr", "flooding"], "seeds": 2} | given)


def test_a_question_is_a_command_line_of_compare(folder):
    words = ask(folder, set=['radio.range="200 m"']).words(Workspace(folder))
    assert words == [
        *("compare", "mine.toml", "--protocols", "cbr,flooding", "--seeds", "2"),
        *("--set", 'radio.range="200 m"'),
    ]
    shipped = ask(folder, world="shipped/shopping").command(Workspace(folder))
    assert shlex.split(shipped)[:3] == ["roamcast", "compare", "shopping"]


@pytest.mark.parametrize(
    "given",
    [
        {"world": "local/none.toml"},
        {"world": "local/../mine.toml"},
        {"protocols": ["cbr", "cbr"]},
        {"protocols": ["--router"]},
        {"protocols": ["x.py:Evil"]},
        {"protocols": ["cbr,x.py:Evil"]},
        {"set": ["--router=x.py:Evil"]},
        {"set": ["nonsense"]},
        {"options": {"router": "x.py:Evil"}},
        {"options": {"master": "spark://evil"}},
        {"result": "../elsewhere"},
        {"result": "--overwrite"},
    ],
)
def test_what_no_scenario_could_ask_for_is_refused(folder, client, given):
    question = ask(folder, **given)
    if given == {"set": ["--router=x.py:Evil"]}:  # a key with a strange name, after --set
        assert question.words(Workspace(folder))[-2:] == ["--set", "--router=x.py:Evil"]
        return
    with pytest.raises(UserError):
        question.words(Workspace(folder))
    for path in ("/api/command", "/api/ask"):
        assert client.post(path, json=question.model_dump()).status_code == 422


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        "rm -rf /",
        {"compare": "shopping"},
        {"compare": "shopping", "protocols": ["x.py:Evil"]},
        {"compare": "/etc/passwd", "protocols": ["cbr"]},
        {"compare": "../x", "protocols": ["cbr"]},
        {"compare": "shopping", "protocols": ["cbr"], "set": [1]},
        {"compare": ["shopping"], "protocols": ["cbr"]},
    ],
)
def test_a_foreign_result_cannot_be_resumed_as_another_command(folder, result):
    (folder / "out" / "two").mkdir(parents=True, exist_ok=True)
    (folder / "out" / "two" / "campaign.json").write_text("{}")
    assert read_question(result, 2, "out/two", Workspace(folder)) is None


def test_a_result_of_a_comparison_is_resumed_with_its_own_settings(folder):
    (folder / "out" / "two").mkdir(parents=True, exist_ok=True)
    (folder / "out" / "two" / "campaign.json").write_text("{}")
    values = {
        "compare": str(folder / "mine.toml"),
        "protocols": ["cbr"],
        "set": {"radio.range": "200 m", "sample": "9 s"},
    }
    question = read_question(values, 3, "out/two", Workspace(folder))
    assert question.words(Workspace(folder)) == [
        *("compare", "mine.toml", "--protocols", "cbr", "--seeds", "3", "--set", 'radio.range="200 m"'),
        *("--set", 'sample="9 s"', "--out", "out/two"),
    ]


def test_options_are_those_of_the_command(client):
    assert client.get("/api/options").json() == find_options()
    assert find_options().keys() <= {"goal", "deadline"}


def test_a_question_that_fails_tells_why(client, folder, text):
    (folder / "broken.toml").write_text(text.replace('duration = "800 s"', "duration = 800"))
    body = {"world": "local/broken.toml", "protocols": ["flooding"], "seeds": 1}
    asked = client.post("/api/ask", json=body)
    assert asked.status_code == 202
    job = asked.json()
    stream = client.get(f"/api/jobs/{job['id']}/events").text
    states = [json.loads(part.removeprefix("data: ")) for part in stream.split("\n\n") if part]
    assert states[-1]["status"] == "failed"
    assert any("broken.toml:5: duration: 800 has no unit" in line for line in states[-1]["lines"])
    assert job["command"] == "roamcast compare broken.toml --protocols flooding --seeds 1"
    listed = client.get("/api/results").json()
    assert [each["status"] for each in listed["jobs"] if each["id"] == job["id"]] == ["failed"]
    (folder / "broken.toml").unlink()


def test_an_unknown_job_is_refused(client):
    assert client.post("/api/jobs/none/stop", json={}).status_code == 422
    assert client.get("/api/jobs/none/events").status_code == 422


def test_questions_wait_for_each_other_and_a_waiting_one_can_be_stopped(client, folder, text):
    (folder / "broken.toml").write_text(text.replace('duration = "800 s"', "duration = 800"))
    body = {"world": "local/broken.toml", "protocols": ["flooding"], "seeds": 1}
    first, second = (client.post("/api/ask", json=body).json()["id"] for _ in range(2))
    assert client.post(f"/api/jobs/{second}/stop", json={}).json()["status"] == "stopped"
    ended = {job: client.get(f"/api/jobs/{job}/events").text.split("data: ")[-1] for job in (first, second)}
    assert [json.loads(ended[job])["status"] for job in (first, second)] == ["failed", "stopped"]
    assert json.loads(ended[second])["lines"] == []  # it was never started
    (folder / "broken.toml").unlink()
