import json

import pytest

from roamcast.cli.app import invoke

SCHEMA = "docs/examples/cd.xsd"
EVENT = "docs/examples/kind-of-blue.xml"
LINES = "docs/examples/subscriptions.txt"


@pytest.fixture(autouse=True)
def at_home(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)


def told(capsys, *arguments):
    assert invoke(["filter", *arguments]) == 0
    return capsys.readouterr().out


def test_explain_shows_normal_form_fields_and_examples(capsys):
    said = told(capsys, "explain", '/CD[category!="jazz" and price<"20"]', "--schema", SCHEMA)
    assert '/CD[(category="pop" or category="classic") and price<20]' in said
    assert "price (decimal)" in said
    assert "matches         <CD" in said
    assert "does not match  <CD" in said


def test_explain_needs_no_schema(capsys):
    said = json.loads(told(capsys, "explain", "/alert[level > 3 and starts-with(area/name, 'N')]", "--json"))
    assert said["type"] == "alert"
    assert {field["path"]: field["kind"] for field in said["fields"]} == {
        "level": "decimal",
        "area/name": "string",
    }
    assert said["matches"].startswith("<alert>")
    assert said["does_not_match"].startswith("<alert")
    assert said["does_not_match"] != said["matches"]


def test_explain_says_when_everything_or_nothing_matches(capsys):
    assert "it wants everything" in told(capsys, "explain", "/CD")
    assert "nothing at all" in told(capsys, "explain", "/CD[price<5]", "--schema", SCHEMA)


def test_match_tells_for_each_event_and_filter(capsys):
    filters = ["--filter", '/CD[category="jazz"]', "--filter", "/CD[price>50]"]
    rows = json.loads(told(capsys, "match", "--schema", SCHEMA, *filters, EVENT, "--json"))
    assert rows == [{"file": EVENT, "type": "CD", "matched": ['/CD[category="jazz"]']}]
    said = told(capsys, "match", "--schema", SCHEMA, *filters, EVENT)
    assert [line[:3] for line in said.splitlines()] == ["yes", "no "]


@pytest.mark.parametrize("method", ["kmeans", "graph", "least", "agglomerative", "divisive"])
def test_groups_are_printed_with_their_cost_and_drawn(capsys, method, tmp_path):
    out = tmp_path / "graph.png"
    said = told(capsys, "groups", LINES, "--method", method, "--schema", SCHEMA, "--draw", str(out))
    assert "channel 1:" in said
    assert "noise" in said
    assert '  /CD[category="jazz" and price>10 and price<20]' in said
    assert out.stat().st_size > 5000
    rows = json.loads(told(capsys, "groups", LINES, "--method", method, "--json"))
    assert sum(len(group["members"]) for group in rows["groups"]) == 8


def test_an_event_sets_up_a_channel_for_those_who_want_it(capsys):
    said = told(capsys, "groups", LINES, "--method", "least", "--schema", SCHEMA, "--event", EVENT, "--json")
    [group] = json.loads(said)["groups"]
    assert group["members"] == [
        '/CD[category="jazz" and price<"20" and price>"10"]',
        '/CD[category="jazz"]',
        '/CD[composer="D*s"]',
    ]
    assert group["filter"] == "/CD"  # they ask nothing in common


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["explain", "/CD[price"], "at character 10"),
        (["explain", "/CD[prise<3]", "--schema", SCHEMA], "did you mean 'price'"),
        (["explain", "/CD", "--schema", "nowhere.xsd"], "nowhere.xsd: cannot be read"),
        (["match", "--schema", SCHEMA, "--filter", "/CD", LINES], f"{LINES}: not XML"),
        (["match", "--schema", SCHEMA, "--filter", "/CD", "nowhere.xml"], "nowhere.xml: cannot be read"),
        (["groups", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["groups", LINES, "--event", EVENT], "needs --schema"),
    ],
)
def test_mistakes_are_told_in_a_line_without_traceback(capsys, arguments, complaint):
    assert invoke(["filter", *arguments]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said
