"""docs/live.md: its configuration keys are those that there are, and its three terminals work as written."""

import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
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


def test_no_state_of_a_node_is_shipped_with_the_examples():
    tracked = subprocess.run(
        ["git", "ls-files", "docs/examples/live"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode:
        pytest.skip("not a git repository")
    files = tracked.stdout.split()
    assert "docs/examples/live/relay.toml" in files
    assert not [each for each in files if Path(each).parent.name.endswith(".state")]
    ignored = subprocess.run(
        ["git", "check-ignore", "-q", "docs/examples/live/relay.state/identity"], cwd=ROOT, check=False
    )
    assert ignored.returncode == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("listen = ", "node.toml: not TOML: Invalid value"),
        ("peer = []", "node.toml: unknown key 'peer'; known: protocol,"),
        ('listen = "127.0.0.1:99999"', "'127.0.0.1:99999' is not an address with a port;"),
        ('listen = "127.0.0.1:BUSY"', "cannot listen on 127.0.0.1 port BUSY: Address already in use"),
        ('interfaces = ["wlan77"]', "no network interface is called 'wlan77'; there are "),
        ('protocol = "raftcbr"', "unknown protocol 'raftcbr'; did you mean 'raft-cbr'?"),
        ('state = "file"', "file: cannot keep the state of a node: File exists"),
        ('state = "bad"', "identity: not an identity; remove the file to get a new one"),
        ('key = "none"', "none: no such file"),
        ('control = "no/x"', "no/x: cannot make the control socket: No such file or directory"),
    ],
)
def test_a_mistake_in_a_configuration_is_told_in_one_line(tmp_path, capfd, settings, message):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        busy = str(taken.getsockname()[1])
        (tmp_path / "file").touch()
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / "identity").write_text("junk")
        if not settings.startswith(("listen", "peer", "interfaces")):
            settings = f'listen = "127.0.0.1:0"\npeers = []\n{settings}'
        (tmp_path / "node.toml").write_text(settings.replace("BUSY", busy))
        assert invoke(["node", str(tmp_path / "node.toml")]) == 2
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("roamcast: ") and message.replace("BUSY", busy) in line
