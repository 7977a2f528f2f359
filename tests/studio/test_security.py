"""Requests without the token, of other hosts and origins, or too large are refused; pages are confined."""

import pytest

from roamcast.studio import security
from roamcast.studio.app import read_web
from roamcast.studio.security import AccessKeys
from tests.studio.client import HOST, TOKEN, make_client

PATHS = ["/api/worlds", "/api/results", "/api/live", "/api/options", "/api/jobs/1/events", "/api/nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"bearer {TOKEN}", f"Basic {TOKEN}", TOKEN]
)
def test_a_request_without_the_token_is_refused(client, path, given):
    answer = client.get(path, headers={"Authorization": given})
    assert answer.status_code == 401 and "roamcast studio printed" in answer.json()["error"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_request_that_names_another_host_is_refused(client, host):
    for path in ("/", "/api/worlds"):
        assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1"])
def test_a_request_of_another_origin_is_refused_even_with_the_token(client, origin):
    for send in (client.get, client.post):
        assert send("/api/worlds", headers={"Origin": origin}).status_code == 403
    assert client.get("/", headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_the_browser_marks_as_of_another_site_is_refused(client, site):
    assert client.get("/api/worlds", headers={"Sec-Fetch-Site": site}).status_code == 403


def test_the_own_origin_is_served(client):
    answer = client.get("/api/options", headers={"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200


def test_no_answer_invites_another_origin_or_sets_a_cookie(client):
    for path in ("/", "/main.js", "/api/options", "/api/nothing", "/nothing"):
        headers = client.get(path).headers
        assert (
            not [name for name in headers if name.startswith("access-control")]
            and "set-cookie" not in headers
        )
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
    assert client.options("/api/worlds").status_code == 405


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(client, method):
    assert client.request(method, "/api/worlds").status_code == 405
    assert client.post("/").status_code == 405


def test_a_body_that_is_too_large_is_refused(client, monkeypatch):
    monkeypatch.setattr(security, "MOST_JSON", 1000)
    body = {"world": "shipped/shopping", "text": "#" * 1001}
    assert client.post("/api/check", json=body).status_code == 413

    def endless():  # without a length
        for _ in range(100):
            yield b"#" * 100

    chunked = client.post("/api/check", content=endless(), headers={"Content-Type": "application/json"})
    assert chunked.status_code == 413


def test_a_form_of_another_page_has_the_wrong_type(client):
    answer = client.post(
        "/api/check", content='{"world": "x", "text": "y"}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 415


def test_the_page_needs_no_network_and_runs_no_inline_script():
    for name, (content, _) in read_web().items():
        text = content.decode()
        assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text, name
        if name.endswith(".js"):
            for way in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "Function(",
            ):
                assert way not in text, f"{name}: {way}"
        if name.endswith(".html"):
            assert "style=" not in text and "onclick" not in text and "<script>" not in text


def test_keys_of_folders_differ_and_change_with_the_token():
    assert len({AccessKeys(t).sign(n) for t in ("a", "b") for n in ("x", "y")}) == 4
    assert AccessKeys().token != AccessKeys().token and len(AccessKeys().token) > 40


def test_files_need_the_key_of_their_folder(folder):
    (folder / "out" / "one").mkdir(parents=True)
    (folder / "out" / "one" / "campaign.json").write_text("{}")
    (folder / "out" / "one" / "report.html").write_text("<script>1</script>")
    (folder / "secret.html").write_text("secret")
    keys = AccessKeys(TOKEN)
    with make_client(folder, Authorization="") as client:
        right, wrong = keys.sign("out/one"), keys.sign("out")
        answer = client.get(f"/files/{right}/out/one/report.html")
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "sandbox allow-scripts" in policy and "allow-same-origin" not in policy
        for path in (
            f"/files/{wrong}/out/one/report.html",
            f"/files/{right}/out/one/../../secret.html",
            f"/files/{right}/out/one/%2e%2e/%2e%2e/secret.html",
            f"/files/{right}/out/one/..%2f..%2fsecret.html",
            f"/files/{right}/out/one//etc/passwd",
            f"/files/{right}/out/one/campaign.toml",
            f"/files/{right}/out/one/",
            f"/files/{right}/secret.html",
        ):
            assert client.get(path).status_code == 404, path
        (folder / "out" / "one" / "link.html").symlink_to(folder / "secret.html")
        assert client.get(f"/files/{right}/out/one/link.html").status_code == 404
