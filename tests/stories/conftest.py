"""Stories are told twice: with messages as objects, and with the bytes that they would be on the air."""

import pytest

from roamcast.testing import Mesh


@pytest.fixture(params=[False, True], ids=["objects", "bytes"], autouse=True)
def as_bytes(request, monkeypatch):
    monkeypatch.setattr(Mesh, "as_bytes", request.param)
