"""`roamcast key` from outside."""

import pytest

from roamcast.cli.app import invoke
from roamcast.live.security.identity import Identity
from roamcast.live.security.keys import read_key


def test_a_new_key_is_written_and_shown_without_its_secret(tmp_path, capsys):
    path = tmp_path / "net.key"
    assert invoke(["key", "new", str(path)]) == 0
    written = capsys.readouterr().out
    assert invoke(["key", "show", str(path)]) == 0
    assert capsys.readouterr().out == written == f"{path}: key of network {read_key(path).network.hex()}\n"
    assert path.read_text().split()[1] not in written


def test_an_identity_is_shown_as_its_node(tmp_path, capsys):
    identity = Identity.load(tmp_path / "identity")
    assert invoke(["key", "show", str(tmp_path / "identity")]) == 0
    assert f"node {identity.node}, public key {identity.public.hex()}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["new", "."], ["show", "missing"], ["show", "."], ["new", "no/such/folder/x"]]
)
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert invoke(["key", *arguments]) == 2
    message = capsys.readouterr().err
    assert message.startswith("roamcast: ") and message.count("\n") == 1
