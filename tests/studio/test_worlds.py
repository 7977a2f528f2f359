"""Scenarios: the gallery, the same messages as `roamcast check`, saving, importing."""

import subprocess
import sys

import pytest

from roamcast.advisor.advice import advise
from roamcast.scenario.read import load
from tests.studio.client import ROOT, SHOPPING

HOSTILE = "</script><script>alert(1)</script>"


def test_the_gallery_has_own_and_shipped_scenarios_with_maps(client, folder):
    response = client.get("/api/worlds").json()
    worlds = {world["id"]: world for world in response["worlds"]}
    assert response["folder"] == str(folder)
    assert {"local/mine.toml", "shipped/shopping", "shipped/river"} <= worlds.keys()
    shopping = worlds["shipped/shopping"]
    assert shopping["nodes"] == 51 and len(shopping["map"]["groups"][1]["at"]) == 50
    assert shopping["map"]["groups"][0]["publishing"] == [0]


def test_a_map_has_the_buildings_of_the_scenario(client):
    shown = client.get("/api/world", params={"id": "shipped/office"}).json()["check"]["map"]
    assert len(shown["buildings"]) == 12
    assert shown["buildings"][0] == [[[2.0, 1.0], [13.0, 1.0], [13.0, 18.0], [2.0, 18.0]]]


def predict(client, text, world="local/mine.toml"):
    return client.post("/api/predict", json={"world": world, "text": text})


def test_predictions_are_those_of_the_advisor_and_follow_the_text(client, text):
    first = predict(client, text).json()
    advice = advise(load(SHOPPING)).to_record()
    assert [each["name"] for each in first["protocols"]] == [each["protocol"] for each in advice["ranking"]]
    for shown, made in zip(first["protocols"], advice["ranking"], strict=True):
        assert shown == {"name": made["protocol"], **{key: made[key] for key in first["units"]}}
    sparse = predict(client, text.replace("location = true", 'location = true\nradio.range = "40 m"')).json()
    rates = [
        {each["name"]: each["delivery"]["value"] for each in expected["protocols"]}
        for expected in (first, sparse)
    ]
    assert rates[1].keys() == rates[0].keys() and max(rates[1].values()) < min(rates[0].values())


def test_a_world_unlike_the_training_worlds_has_warnings(client, text):
    shown = predict(client, text).json()
    assert shown["far"] and "burst_load" in {each["name"] for each in shown["outside"]}
    obstacles = (ROOT / "scenarios" / "office.toml").read_text()
    assert "radio.obstacles" in predict(client, obstacles).json()["uncovered"]


def test_a_text_that_cannot_be_predicted_has_the_message_of_its_check(client, text):
    answer = predict(client, text.replace('duration = "800 s"', "duration = 800"))
    assert answer.status_code == 422 and "duration" in answer.json()["error"]


def check(folder, name):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", "check", name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "old, new",
    [
        ('duration = "800 s"', "duration = 800"),
        ("count = 50\nmobility", "cuont = 50\nmobility"),
        ('interest = "zone"', 'interest = ["/coupon[zone = "]'),
        ("[nodes.shop]", "[nodes.shop"),
        ('at = [["0 m", "0 m"]]', 'at = [["0 m", "9 km"]]'),
        ("location = true", "location = true\n[protocol.cbr]\nfoo = 1"),
    ],
)
def test_the_messages_are_those_of_the_command(client, folder, text, old, new):
    changed = text.replace(old, new, 1)
    assert changed != text
    (folder / "wrong.toml").write_text(changed)
    response = client.post("/api/check", json={"world": "local/wrong.toml", "text": changed}).json()
    printed = check(folder, "wrong.toml")
    assert printed.returncode == 2
    shown = "\n".join(problem["text"] for problem in response["problems"])
    assert f"roamcast: {shown}\n" == printed.stderr
    lines = [problem["line"] for problem in response["problems"] if problem["line"]]
    assert all(1 <= line <= len(changed.splitlines()) for line in lines)
    (folder / "wrong.toml").unlink()


def test_a_valid_text_is_described_as_by_the_command(client, folder, text):
    response = client.post("/api/check", json={"world": "local/mine.toml", "text": text}).json()
    assert (
        not response["problems"]
        and f"mine.toml: {response['summary']}\n" == check(folder, "mine.toml").stdout
    )


def test_keys_are_changed_in_the_text_and_comments_stay(client, text):
    changes = [
        {"path": ["duration"], "input": "text", "value": "300 s"},
        {"path": ["area", "width"], "input": "text", "value": "900 m"},
        {"path": ["radio", "range"], "input": "text", "value": "200 m"},
        {"path": ["nodes", "shop", "at"], "input": "toml", "value": '[["0 m", "0 m"], ["9 m", "9 m"]]'},
        {"path": ["nodes", "shop", "count"], "input": "number", "value": "2"},
        {"path": ["quiet"], "input": "text", "value": None},
    ]
    response = client.post(
        "/api/edit", json={"world": "local/mine.toml", "text": text, "changes": changes}
    ).json()
    assert not response["check"]["problems"]
    assert (
        'duration = "300 s"' in response["text"] and "# the paper ignores the first 200 s" in response["text"]
    )
    assert response["check"]["map"]["width"] == 900 and response["check"]["map"]["range"] == 200
    assert response["check"]["map"]["groups"][0]["at"] == [[0, 0], [9, 9]]
    assert "quiet" not in response["text"]


def test_a_copy_is_saved_beside_the_files_that_it_names(client, folder):
    response = client.get("/api/world", params={"id": "shipped/river"}).json()
    body = {"world": "shipped/river", "text": response["text"], "name": "my river"}
    assert client.post("/api/save", json=body).json() == {"id": "local/my river.toml"}
    copy = client.get("/api/world", params={"id": "local/my river.toml"}).json()
    assert copy["text"] == response["text"] and not copy["check"]["problems"]
    assert client.post("/api/save", json=body).status_code == 422  # nothing is overwritten
    body = {"world": "local/my river.toml", "text": "# mine\n" + response["text"]}
    assert client.post("/api/save", json=body).status_code == 200
    assert (folder / "my river.toml").read_text().startswith("# mine\n")


def test_a_shipped_scenario_is_not_changed(client, text):
    answer = client.post("/api/save", json={"world": "shipped/shopping", "text": text})
    assert answer.status_code == 422 and "save a copy" in answer.json()["error"]


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", ".x", "a/b", "", "a\x00b", "-", "a\nb", "x" * 200, "..", HOSTILE]
)
def test_a_name_that_leaves_the_folder_or_hides_is_refused(client, folder, text, name):
    before = sorted(folder.rglob("*"))
    answer = client.post("/api/save", json={"world": "local/mine.toml", "text": text, "name": name})
    assert answer.status_code == 422 and sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "id", ["local/../mine.toml", "local//etc/passwd", "../../etc/passwd", "shipped/../x", ""]
)
def test_an_id_that_is_not_listed_is_refused(client, id):
    assert client.get("/api/world", params={"id": id}).status_code == 422


def test_a_scenario_that_would_need_all_memory_does_not_end_the_studio(client, text):
    huge = text.replace("count = 50\nmobility", "count = 900000000\nmobility", 1)
    response = client.post("/api/check", json={"world": "local/mine.toml", "text": huge})
    assert response.status_code == 422 or response.json()["problems"]
    again = client.post("/api/check", json={"world": "local/mine.toml", "text": text}).json()
    assert not again["problems"]


def test_a_dropped_trace_becomes_a_scenario(client, folder):
    trace = "\n".join(
        f"$node_({n}) set X_ {10 * n}.0\n$node_({n}) set Y_ 5.0\n"
        f'$ns_ at {n + 1}.0 "$node_({n}) setdest 90.0 {n}.0 1.0"'
        for n in range(4)
    )
    response = client.post("/api/import", params={"name": "walk.tcl"}, content=trace.encode()).json()
    assert response["imported"]["nodes"] == 4 and response["id"] == "local/walk/scenario.toml"
    assert not client.get("/api/world", params={"id": response["id"]}).json()["check"]["problems"]
    again = client.post("/api/import", params={"name": "walk.tcl"}, content=trace.encode())
    assert again.status_code == 422 and "exists already" in again.json()["error"]


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"hello\n", b"<fcd-export>"])
def test_a_file_that_is_no_trace_is_refused_and_leaves_nothing(client, folder, content):
    answer = client.post("/api/import", params={"name": "../bad.txt"}, content=content)
    assert answer.status_code == 422 and not (folder / "bad").exists() and not list(folder.glob("*bad*"))


def test_protocols_that_need_positions_are_not_offered_without_them(client, folder, text):
    (folder / "blind.toml").write_text(text.replace("location = true", "location = false"))
    response = client.get("/api/protocols", params={"id": "local/blind.toml"}).json()
    able = {each["name"]: each["able"] for each in response["protocols"]}
    assert able["flooding"] and not able["gpsr-unicast"] and "location = true" in response["left_out"][0]
    (folder / "blind.toml").unlink()
