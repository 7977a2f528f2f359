import http.client
import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.errors import UserError
from roamcast.replay.packing import read_column, unpack
from roamcast.replay.parts import air as module
from roamcast.replay.recording import Recording
from roamcast.replay.server import LOOPBACK, ReplayServer


@pytest.fixture(scope="module")
def server(facts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", 500)
        with ReplayServer([Recording(facts)]) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            yield server
            server.shutdown()
            thread.join()


def ask(server, target, method="GET", **headers):
    connection = http.client.HTTPConnection(LOOPBACK, server.server_address[1], timeout=20)
    connection.request(method, target, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_the_pieces_are_all_the_frames(server, facts):
    header, _ = unpack(ask(server, "/runs")[1])
    pieces = header["runs"][0]["pieces"]
    assert len(pieces) > 2 and all(piece.keys() == {"start", "end"} for piece in pieces)
    times = []
    for number in range(len(pieces)):
        result, columns = unpack(ask(server, f"/piece?run=0&piece={number}")[1])
        times.append(read_column(result["frames"]["time"], columns))
    assert len(np.concatenate(times)) == len(facts["transmissions"])


def test_an_event_has_its_copies_and_drops(server, facts):
    table = facts["publications"].to_pandas().sort_values(["time", "publication"])
    for row in (3, 200):
        publication = table["publication"].iloc[row]
        record = json.loads(ask(server, f"/event?run=0&event={row}")[1])
        for key, name in (("copies", "transmissions"), ("drops", "drops")):
            rows = facts[name].to_pandas().sort_values("time", kind="stable")
            expected = rows[rows["publication"] == publication]
            assert [each["node"] for each in record[key]] == expected["node"].tolist()
            assert [each["time"] for each in record[key]] == expected["time"].tolist()


def test_the_page_may_connect_to_its_own_server_only(server):
    status, page = ask(server, "/")
    assert status == 200 and b"connect-src 'self'" in page


@pytest.mark.parametrize(
    "target",
    [
        "/piece?run=0&piece=99",
        "/piece?run=-1&piece=0",
        "/piece?run=7&piece=0",
        "/piece?run=0&piece=" + "1" * 3000,
        "/piece",
        "/piece?run=0&piece=-1",
        "/piece?run=0&piece=nan",
        "/piece?run=0&piece=inf",
        "/piece?run=0&piece=1e0",
        "/piece?run=0&piece=3-1",
        "/piece?run=0&piece=../0",
        "/piece?run=%2e%2e&piece=0",
        "/piece/../runs",
        "/%2e%2e/run.json",
        "/transmissions.parquet",
        "/event?run=0&event=x",
        "/event?run=0&piece=0",
        "/../etc/passwd",
        "/runs/",
        "//x/y",
    ],
)
def test_what_means_nothing_is_not_found(server, target):
    assert ask(server, target)[0] == 404


@given(st.text("/?&=%run0123456789pieceevent-.\\", max_size=60))
def test_no_target_breaks_the_server(server, text):
    found = server.answer("/" + text)
    assert found is None or isinstance(found[1], bytes)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1"])
def test_requests_that_name_another_host_are_refused(server, host):
    assert ask(server, "/runs", Host=host)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get_is_answered(server, method):
    assert ask(server, "/runs", method)[0] == 501


def test_a_port_in_use_is_a_clear_error(server, facts):
    with pytest.raises(UserError, match="cannot listen"):
        ReplayServer([Recording(facts)], server.server_address[1])
