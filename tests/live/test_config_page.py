"""docs/live.md: its configuration keys are those that there are, and its three terminals work as written."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.errors import UserError
from roamcast.live.config import Config, read_config
from roamcast.live.gateway.settings import MqttSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "live.md").read_text()


def test_the_page_lists_every_key_of_the_configuration():
    assert _keys("## Configuration", "## MQTT") == set(Config.model_fields)
    assert _keys("## MQTT", "## State") == set(MqttSettings.model_fields)


def _keys(begin, end):
    table = PAGE[PAGE.index(begin) : PAGE.index(end)]
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


def test_three_terminals_as_written(tmp_path):
    shutil.copytree(ROOT / "docs/examples/live", tmp_path / "docs/examples/live")
    commands = re.findall(r"```sh\n(roamcast (?:node|subscribe|publish) .*)\n```", PAGE)
    assert [command.split()[1] for command in commands] == ["node", "subscribe", "publish"]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    started = []
    try:
        for command in commands:
            started.append(
                subprocess.Popen(
                    ["/bin/sh", "-c", f"exec {command}"],
                    cwd=tmp_path,
                    env={"PATH": path},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            if command.split()[1] != "publish":
                assert started[-1].stdout.readline()  # it is ready
        relay, subscriber, publisher = started
        printed, complaint = publisher.communicate(timeout=90)
        assert re.fullmatch(r"published \d+\nacknowledged by \d+\n", printed), complaint
        assert json.loads(subscriber.stdout.readline()) == {"alert": {"level": 5, "text": "high water"}}
        for each in (relay, subscriber):
            each.terminate()
            assert each.wait(30) == 130
            assert each.stderr.read() == ""
    finally:
        for each in started:
            each.kill()
            each.communicate()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("protocoll = 'cbr'", "unknown key 'protocoll'; known: protocol,"),
        ("port = 0", "port: "),
        ("peers = ['x']", "'x' is not an address with a port"),
        ("budget = 5", "has no unit"),
        ("= 5", "not TOML"),
        ("a." * 40 + "b = 1", "a key has 41 parts, expected at most 32"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_place(tmp_path, text, complaint):
    path = tmp_path / "node.toml"
    path.write_text(text)
    with pytest.raises(Exception, match=re.escape(complaint)) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}:") and "\n" not in str(caught.value)


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "node.toml").write_text("state = 'state'\nkey = '/etc/net.key'\ncontrol = 'c'")
    config = read_config(tmp_path / "node.toml")
    assert (config.state, config.key, config.control) == (
        tmp_path / "state",
        Path("/etc/net.key"),
        tmp_path / "c",
    )
    with pytest.raises(UserError, match="no such file"):
        config.network_key()
