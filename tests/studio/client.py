"""A client of a studio that runs in this process."""

import warnings
from pathlib import Path

from roamcast.studio.app import make_app
from roamcast.studio.security import AccessKeys

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it recommends another client than the one in the lock
    from starlette.testclient import TestClient

ROOT = Path(__file__).parents[2]
SHOPPING = ROOT / "scenarios" / "shopping.toml"
TOKEN = "a-token-of-this-test"
HOST = "127.0.0.1:8765"


def make_client(folder, **headers):
    """A client of a studio for `folder`, with the token unless `headers` say otherwise."""
    app = make_app(folder, AccessKeys(TOKEN), frozenset({HOST, "localhost:8765"}))
    given = {"Authorization": f"Bearer {TOKEN}"} | headers
    return TestClient(app, base_url=f"http://{HOST}", headers=given, raise_server_exceptions=False)
