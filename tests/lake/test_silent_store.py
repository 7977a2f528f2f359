"""A store that does not answer is told in a line, not in a traceback."""

import socket

import pytest

from roamcast.errors import UserError
from roamcast.lake.storage import StorageUrl, _connect
from roamcast.pipeline.campaign_folder import CampaignFolder


@pytest.fixture
def place(monkeypatch):
    """A bucket behind a port at which nobody listens."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        values = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
        for key, value in values.items():
            monkeypatch.setenv(key, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        _connect.cache_clear()
        yield StorageUrl("s3://bucket/campaign")
        _connect.cache_clear()


@pytest.mark.parametrize(
    "ask",
    [
        StorageUrl.exists,
        StorageUrl.list,
        StorageUrl.open,
        lambda place: CampaignFolder(place).create(),
        lambda place: CampaignFolder(place).read_campaign(),
    ],
    ids=["exists", "list", "open", "create", "read"],
)
def test_it_is_named_with_what_to_look_at(place, ask):
    with pytest.raises(UserError, match=r"^s3://bucket/.*NETWORK_CONNECTION.*AWS_ENDPOINT_URL") as raised:
        ask(place)
    assert str(raised.value).count("s3://") == 1 and "\n" not in str(raised.value)
