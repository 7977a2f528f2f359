"""Live nodes in processes of their own, in the studio: their events, and a replay of the last minutes."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.chromium import browser, needs_chromium

__all__ = ["browser"]
pytestmark = needs_chromium

ROAMCAST = str(Path(sys.executable).with_name("roamcast"))
CONFIG = """
name = "{name}"
network = "studio-test"
listen = "127.0.0.1:{port}"
peers = [{peers}]
state = "{name}.state"
control = "{name}.socket"
facts = "facts"
[types.alert]
level = "integer"
text = "string"
"""


def free_ports(count):
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A folder in which three nodes run: publisher - relay - subscriber, and a subscription."""
    folder = tmp_path_factory.mktemp("live")
    names = ["publisher", "relay", "subscriber"]
    ports = free_ports(3)
    for number, name in enumerate(names):
        peers = [ports[each] for each in (number - 1, number + 1) if 0 <= each < 3]
        text = ", ".join(f'"127.0.0.1:{port}"' for port in peers)
        (folder / f"{name}.toml").write_text(CONFIG.format(name=name, port=ports[number], peers=text))
    running = [subprocess.Popen([ROAMCAST, "node", f"{name}.toml"], cwd=folder) for name in names]
    end = time.monotonic() + 60
    while not all((folder / f"{name}.socket").exists() for name in names):
        assert time.monotonic() < end, "the nodes did not start"
        time.sleep(0.1)
    running.append(
        subprocess.Popen(
            [ROAMCAST, "subscribe", "subscriber.toml", "/alert[level > 3]"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
    )
    yield folder
    for process in running:
        process.terminate()
    for process in running:
        process.wait(30)


@pytest.fixture(scope="module")
def address(network):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", "studio", str(network)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}
    )
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait(30)


def publish(folder, text):
    """Publish an event; repeat until the publisher knows the subscriber and has its acknowledgement."""
    event = f'{{"alert": {{"level": 5, "text": "{text}"}}}}'
    command = [ROAMCAST, "publish", "publisher.toml", event, "--receivers", "1", "--wait", "60"]
    subprocess.run(command, cwd=folder, check=True, timeout=120, stdout=subprocess.DEVNULL)


@pytest.mark.timeout(300)
def test_events_pass_and_the_last_minutes_are_replayed(browser, network, address):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto(address)
    page.get_by_role("link", name="Watch live nodes").click()
    page.locator("h1", has_text="Live nodes").wait_for()
    hostile = "<img src=x onerror=window.hurt=1>"
    publish(network, hostile)
    publish(network, "high water")
    page.locator("td", has_text="high water").wait_for()
    row = page.locator("tr", has=page.locator("td", has_text="high water"))
    assert "publisher" in row.inner_text() and "1 of 1" in row.inner_text()
    assert "subscriber after" in row.inner_text()
    page.locator("td", has_text=hostile).wait_for()
    assert page.evaluate("window.hurt") is None

    page.get_by_label("The last").select_option("15")
    page.get_by_role("button", name="Replay").click()
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for(state="attached")
    frame.locator("#query").fill("high water")
    frame.locator("#query").press("Enter")
    frame.locator("#panel h3", has_text="Event ").wait_for()
    assert "high water" in frame.locator("#panel .content").inner_text()
    replay = page.frames[-1]
    names = replay.evaluate("replay.run.ground.groups.map((each) => each.name)")
    assert sorted(names) == ["publisher", "relay", "subscriber"]
    steps = replay.evaluate(
        "[...replay.chosen[0].steps.values()].map((each) => [each.parent, each.node])"
        ".map((pair) => pair.map((node) => node < 0 ? '' : replay.run.ground.groups[node].name))"
    )
    assert ["publisher", "relay"] in steps and ["relay", "subscriber"] in steps
    assert problems == []
    page.context.close()


@pytest.mark.timeout(300)
def test_a_node_that_stops_stays_in_the_list_with_the_reason(browser, network, address):
    page = browser.new_context().new_page()
    page.goto(address)
    page.goto(address.partition("#")[0] + "#/live")
    (network / "gone.toml").write_text('name = "gone"\nlisten = "127.0.0.1:1"\ncontrol = "gone.socket"\n')
    end = time.monotonic() + 30
    while "no node answers" not in page.locator("#page").inner_text():
        assert time.monotonic() < end
        page.wait_for_timeout(100)
    page.context.close()
