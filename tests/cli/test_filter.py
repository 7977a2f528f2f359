import io
import json
from pathlib import Path

import pytest

from roamcast.cli.app import invoke

SCHEMA = "docs/examples/cd.xsd"
EVENT = "docs/examples/kind-of-blue.xml"
LINES = "docs/examples/subscriptions.txt"


@pytest.fixture(autouse=True)
def at_home(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)


def run_command(capsys, *arguments):
    assert invoke(["filter", *arguments]) == 0
    return capsys.readouterr().out


def test_explain_shows_normal_form_fields_and_examples(capsys):
    said = run_command(capsys, "explain", '/CD[category!="jazz" and price<"20"]', "--schema", SCHEMA)
    assert '/CD[(category="pop" or category="classic") and price<20]' in said
    assert "price (decimal)" in said
    assert "matches         <CD" in said
    assert "does not match  <CD" in said


def test_explain_needs_no_schema(capsys):
    said = json.loads(
        run_command(capsys, "explain", "/alert[level > 3 and starts-with(area/name, 'N')]", "--json")
    )
    assert said["type"] == "alert"
    assert {field["path"]: field["kind"] for field in said["fields"]} == {
        "level": "decimal",
        "area/name": "string",
    }
    assert said["matches"].startswith("<alert>")
    assert said["does_not_match"].startswith("<alert")
    assert said["does_not_match"] != said["matches"]


def test_explain_says_when_everything_or_nothing_matches(capsys):
    assert "no event: it matches all" in run_command(capsys, "explain", "/CD")
    assert "matches         no event" in run_command(capsys, "explain", "/CD[price<5]", "--schema", SCHEMA)


STAMPED = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x"
  elementFormDefault="qualified"><xs:element name="T"><xs:complexType><xs:sequence>
    <xs:element name="at" type="xs:dateTime"/>
    <xs:element name="code"><xs:simpleType><xs:restriction base="xs:string">
      <xs:pattern value="%s"/></xs:restriction></xs:simpleType></xs:element>
    <xs:element name="box" minOccurs="0"><xs:complexType><xs:sequence>
      <xs:element name="n" type="xs:int"/><xs:element name="m" type="xs:int" minOccurs="0"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="price"><xs:complexType><xs:simpleContent><xs:extension base="xs:decimal">
      <xs:attribute name="unit" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
    </xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>"""


@pytest.mark.parametrize(
    "xpath",
    [
        "/T[price<5]",
        "/T[not(box/n)]",
        "/T[box/m=3]",
        "/T[price/@unit='EUR' or box]",
        "/T[not(price/@unit) and code='ABC']",
        "/T[price!=0]",
        "/T[at<'2006-01-01T00:00:00Z' and price<3] | /T[price=4 and box/n=2] | /T[price=5 and box/n=3]",
    ],
)
def test_the_examples_of_explain_are_documents_that_match_says_the_same_of(capsys, tmp_path, xpath):
    schema = tmp_path / "t.xsd"
    schema.write_text(STAMPED % "[A-Z]{3}")
    said = json.loads(run_command(capsys, "explain", xpath, "--schema", str(schema), "--json"))
    for example, expected in ((said["matches"], [xpath]), (said["does_not_match"], [])):
        (tmp_path / "e.xml").write_text(example)
        [row] = json.loads(
            run_command(
                capsys, "match", "--schema", str(schema), "--filter", xpath, str(tmp_path / "e.xml"), "--json"
            )
        )
        assert row["matched"] == expected
    assert said["notes"] == []


def test_explain_says_when_its_example_is_not_valid_by_the_schema(capsys, tmp_path):
    (tmp_path / "t.xsd").write_text(STAMPED % "[A-Z]{3}-[0-9]{7}")
    said = run_command(capsys, "explain", "/T[price<5]", "--schema", str(tmp_path / "t.xsd"))
    assert "note            the example <T" in said
    assert "is not accepted by the pattern" in said


def test_events_and_subscriptions_are_read_from_stdin(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(EVENT).read_bytes())))
    said = run_command(capsys, "match", "--schema", SCHEMA, "--filter", "/CD[price<20]", "-")
    assert said == "yes  -  /CD[price<20]\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(LINES).read_bytes())))
    assert "channel 1:" in run_command(capsys, "groups", "-", "--method", "graph")


def test_groups_name_what_matches_nothing(capsys, tmp_path):
    (tmp_path / "f.txt").write_text("/CD[price<5]\r\n\n# no\n/CD[price<50]\n")
    said = run_command(capsys, "groups", str(tmp_path / "f.txt"), "--schema", SCHEMA, "--method", "graph")
    assert "no event matches them:\n    /CD[price<5]\n" in said
    rows = json.loads(run_command(capsys, "groups", str(tmp_path / "f.txt"), "--schema", SCHEMA, "--json"))
    assert rows["match_nothing"] == ["/CD[price<5]"]


def test_match_tells_for_each_event_and_filter(capsys):
    filters = ["--filter", '/CD[category="jazz"]', "--filter", "/CD[price>50]"]
    rows = json.loads(run_command(capsys, "match", "--schema", SCHEMA, *filters, EVENT, "--json"))
    assert rows == [{"file": EVENT, "type": "CD", "matched": ['/CD[category="jazz"]']}]
    said = run_command(capsys, "match", "--schema", SCHEMA, *filters, EVENT)
    assert [line[:3] for line in said.splitlines()] == ["yes", "no "]


@pytest.mark.parametrize("method", ["kmeans", "graph", "least", "agglomerative", "divisive"])
def test_groups_are_printed_with_their_cost_and_drawn(capsys, method, tmp_path):
    out = tmp_path / "graph.png"
    said = run_command(capsys, "groups", LINES, "--method", method, "--schema", SCHEMA, "--draw", str(out))
    assert "channel 1:" in said
    assert "noise" in said
    assert '  /CD[category="jazz" and price>10 and price<20]' in said
    assert out.stat().st_size > 5000
    rows = json.loads(run_command(capsys, "groups", LINES, "--method", method, "--json"))
    assert sum(len(group["members"]) for group in rows["groups"]) == 8


def test_an_event_sets_up_a_channel_for_those_who_want_it(capsys):
    said = run_command(
        capsys, "groups", LINES, "--method", "least", "--schema", SCHEMA, "--event", EVENT, "--json"
    )
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
        (["groups", "nowhere.txt"], "nowhere.txt: no such file"),
        (["groups", LINES, "--event", EVENT], "needs --schema"),
        (["groups", SCHEMA], f"{SCHEMA}, line 1: '?' is not a valid character here, at character 2"),
        (["groups", "docs"], "docs: cannot be read: Is a directory"),
        (["groups", LINES, "--method", "graph", "--draw", "graph.txt"], "must end in .png"),
        (["groups", LINES, "--method", "graph", "--draw", "nowhere/graph.png"], "cannot be written"),
        (["groups", LINES, "--method", "best"], "is not one of"),
        (["explain", "/CD", "--schema", LINES], "not an XML Schema"),
        (["explain", "/CD", "--schema", "docs"], "docs: cannot be read"),
        (["explain", "/CD[composer='\udcff']"], "cannot be written in XML"),
    ],
)
def test_mistakes_are_told_in_a_line_without_traceback(capsys, arguments, complaint):
    assert invoke(["filter", *arguments]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said
