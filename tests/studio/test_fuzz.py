"""Whatever is sent, the interface answers with a message; it never fails, and writes nothing outside."""

import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from roamcast.studio import live, results, sql, worlds
from tests.studio.client import TOKEN, make_client

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
ALL_ROUTES = [
    (route.path, method)
    for module in (worlds, results, sql, live)
    for route in module.ROUTES
    for method in sorted(route.methods)
]
PATHS = [
    "/api/check",
    "/api/predict",
    "/api/edit",
    "/api/save",
    "/api/command",
    "/api/ask",
    "/api/sql",
    "/api/jobs/x/stop",
]
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


BUDGET = 2000 if os.environ.get("ROAMCAST_SEARCH") else 150
"Requests of each test; `make validate` sends more."

common = settings(max_examples=BUDGET, suppress_health_check=[HealthCheck.function_scoped_fixture])


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


HEADERS = {
    "token": {"Authorization": f"Bearer {TOKEN}"},
    "no token": {"Authorization": ""},
    "wrong token": {"Authorization": "Bearer x"},
    "other origin": {"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"},
    "other site": {"Authorization": f"Bearer {TOKEN}", "Sec-Fetch-Site": "cross-site"},
    "other host": {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"},
}
names = st.sampled_from(["id", "run", "event", "node", "name", "facts", "minutes", "world", "key"])
words = st.text("abcxyz019./%-_:<>'\u00e9 ", max_size=20)


@common
@given(
    route=st.sampled_from(ALL_ROUTES),
    other=st.none() | st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
    part=words.map(lambda text: text.strip("./ ") or "x"),
    query=st.dictionaries(names, words, max_size=4),
    body=st.binary(max_size=60) | bodies.map(lambda each: json.dumps(each).encode(errors="replace")),
    kind=st.sampled_from(["application/json", "text/plain", "multipart/form-data", ""]),
    headers=st.sampled_from(sorted(HEADERS)),
)
@example(
    route=("/api/live/replay", "GET"), other=None, part="x", query={"facts": "..", "minutes": "5"},
    body=b"", kind="", headers="token",
)  # fmt: skip
@example(
    route=("/live/{key}/{name}", "GET"), other=None, part="..%2f..%2fetc", query={}, body=b"", kind="",
    headers="no token",
)  # fmt: skip
def test_no_route_fails_and_none_answers_without_the_right_headers(
    studio, route, other, part, query, body, kind, headers
):
    client, around = studio
    path, method = route[0], other or route[1]
    for name in ("{job}", "{key}", "{name}", "{path:path}"):
        path = path.replace(name, part)
    before = look(around)
    answer = client.request(
        method, path, params=query, content=body, headers={"Content-Type": kind, **HEADERS[headers]}
    )
    assert answer.status_code < 500, (answer.status_code, answer.text)
    assert look(around) == before
    if headers == "other host":
        assert answer.status_code == 421
    elif headers == "other origin" and method in {"GET", "HEAD", "POST"}:
        assert answer.status_code == 403
    elif headers != "token" and path.startswith("/api/"):
        assert answer.status_code in {401, 403, 405}
    if not answer.is_success and method != "HEAD":
        assert answer.json()["error"]


def test_every_route_that_takes_a_body_or_a_query_is_among_those_tried():
    posts = {path for path, method in ALL_ROUTES if method == "POST"} - {"/api/import"}
    assert posts == {path.replace("/x/", "/{job}/") for path in PATHS}
