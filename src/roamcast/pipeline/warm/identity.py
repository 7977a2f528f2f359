"""The identity of a session: a digest of the code that its workers have loaded and of their environment."""

from __future__ import annotations

import hashlib
import os
import sys

from roamcast.campaign.version import provider_version
from roamcast.fingerprint import package_version
from roamcast.routing.catalogue import installed

_ENVIRONMENT = ("AWS_", "HADOOP_", "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "PYTHON")
"Variables by the beginning of their names: tasks read stores and modules as the server's environment says."


def session_identity() -> str:
    """Return the digest of Roamcast's code, installed third-party routers, Python and environment.

    A command uses a session only if it has the same identity: workers keep what they have imported.
    """
    providers = {name: provider_version(name) for name in sorted(installed())}
    environment = {key: value for key, value in os.environ.items() if key.startswith(_ENVIRONMENT)}
    parts = (package_version(), sys.version, sorted(providers.items()), sorted(environment.items()))
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
