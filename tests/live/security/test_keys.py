"""Keys and identities in files."""

import pytest

from roamcast.live.errors import LiveError
from roamcast.live.security.identity import Identity, node_id, verify
from roamcast.live.security.keys import NetworkKey, read_key, write_new_key


def test_a_key_file_reads_back_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "net.key"
    written = write_new_key(path)
    assert read_key(path).secret == written.secret
    assert path.stat().st_mode & 0o777 == 0o600
    assert write_new_key(tmp_path / "other.key").secret != written.secret


def test_a_key_file_is_never_overwritten(tmp_path):
    path = tmp_path / "net.key"
    before = write_new_key(path).secret
    with pytest.raises(LiveError, match="exists already"):
        write_new_key(path)
    assert read_key(path).secret == before


@pytest.mark.parametrize(
    "text", ["", "x", "roamcast-network-key-1 !!", "roamcast-network-key-1 AAAA", "A" * 500]
)
def test_other_files_are_refused_as_keys(tmp_path, text):
    path = tmp_path / "net.key"
    path.write_text(text)
    with pytest.raises(Exception, match=r"net\.key|bytes"):
        read_key(path)


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "ü"])
def test_names_of_open_networks_are_plain(name):
    with pytest.raises(LiveError, match="expected 1 to 64"):
        NetworkKey.of_open_network(name)


def test_an_identity_stays_over_restarts_and_signs(tmp_path):
    first, again = Identity.load(tmp_path / "identity"), Identity.load(tmp_path / "identity")
    assert first.public == again.public and first.node == again.node == node_id(first.public)
    assert 0 <= first.node < 2**31
    assert (tmp_path / "identity").stat().st_mode & 0o777 == 0o600
    signature = first.sign(b"hello")
    assert verify(first.public, signature, b"hello")
    assert not verify(first.public, signature, b"other")
    assert not verify(Identity.generate().public, signature, b"hello")
    assert not verify(b"short", signature, b"hello")


def test_a_damaged_identity_is_refused(tmp_path):
    (tmp_path / "identity").write_text("roamcast-identity-1 AAAA")
    with pytest.raises(LiveError, match="not an identity"):
        Identity.load(tmp_path / "identity")
