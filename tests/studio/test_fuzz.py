"""Whatever is sent, the interface answers with a message; it never fails, and writes nothing outside."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.studio.client import make_client

HOSTILE = [
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "\u0000",
    "';--",
    "%2e%2e/",
    "\ud83d\ude00",
    "-",
    "a" * 999,
]
texts = st.text(max_size=40) | st.sampled_from(HOSTILE)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
bodies = st.recursive(
    scalars, lambda x: st.lists(x, max_size=4) | st.dictionaries(texts, x, max_size=4), max_leaves=12
)
PATHS = ["/api/check", "/api/edit", "/api/save", "/api/command", "/api/ask", "/api/sql", "/api/jobs/x/stop"]
KEYS = ["world", "text", "changes", "name", "protocols", "seeds", "set", "options", "result", "id", "query"]
likely = st.dictionaries(
    st.sampled_from(KEYS), bodies | st.sampled_from(["local/mine.toml", "shipped/shopping"])
)
GETS = ["/api/world", "/api/protocols", "/api/result", "/api/why", "/api/explain", "/api/tables"]
REFUSALS = {400, 404, 405, 413, 414, 415, 422}


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A client, and the folder around that of the studio."""
    around = tmp_path_factory.mktemp("around")
    (around / "studio").mkdir()
    (around / "studio" / "mine.toml").write_text("name = 1\n")
    with make_client(around / "studio") as client:
        yield client, around


common = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def look(around):
    return sorted(str(each.relative_to(around)) for each in around.rglob("*"))


@common
@given(st.sampled_from(PATHS), bodies | likely)
@example("/api/save", {"world": "local/mine.toml", "text": "", "name": "../x"})
@example(
    "/api/edit",
    {"world": "shipped/shopping", "text": "", "changes": [{"path": [], "input": "toml", "value": "["}]},
)
@example("/api/command", {"world": "shipped/shopping", "protocols": ["cbr"], "seeds": 10**30})
def test_an_absurd_body_is_refused(studio, path, body):
    client, around = studio
    before = look(around)
    content = json.dumps(body).encode(errors="surrogatepass")
    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in REFUSALS, (answer.status_code, answer.text)
    assert answer.json()["error"] and look(around) == before


@common
@given(st.sampled_from(PATHS), st.binary(max_size=200))
@example("/api/check", b"[" * 100_000)
@example("/api/check", b'{"a":' * 100_000)
@example("/api/check", b"9" * 10_000)
def test_bytes_that_are_no_json_are_refused(studio, path, body):
    answer = studio[0].post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in REFUSALS


@common
@given(st.sampled_from(GETS), st.dictionaries(st.sampled_from(["id", "run", "event", "node"]), texts))
def test_an_absurd_query_is_refused(studio, path, query):
    client, _ = studio
    plain = {key: value.encode(errors="replace").decode() for key, value in query.items()}
    assert client.get(path, params=plain).status_code in REFUSALS


@common
@given(
    st.lists(st.sampled_from(["..", ".", "files", "api", "x", "%2e%2e", "%2f", "\\", "etc", "passwd", "web"]))
)
def test_no_path_leads_to_a_file_that_is_not_served(studio, parts):
    answer = studio[0].get("/" + "/".join(parts))
    assert answer.status_code in {200, 401, 404, 422}
    if answer.status_code == 200:
        assert b"Roamcast studio" in answer.content and b"root:" not in answer.content


@common
@given(texts, texts)
def test_a_token_or_origin_that_is_guessed_is_refused(studio, token, origin):
    given = {"Authorization": f"Bearer {token}", "Origin": origin}
    plain = {key: value.encode("ascii", "ignore").decode().strip() for key, value in given.items()}
    if any(ord(each) < 32 or ord(each) == 127 for value in plain.values() for each in value):
        return  # no client sends it
    assert studio[0].get("/api/worlds", headers=plain).status_code in {401, 403}
