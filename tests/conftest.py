import os
import signal

import pytest
from hypothesis import is_hypothesis_test, settings

from roamcast.routing import catalogue

os.environ["ROAMCAST_WARM"] = "0"  # a session that the developer keeps is not the subject of tests

# A busy machine makes no example wrong: time is measured in bench/, not here.
# `make test` tries the same cases each time, so that what passes once passes again; `make validate` searches
# at random (ROAMCAST_SEARCH=1), and what it finds becomes a fixed example beside its test.
settings.register_profile("same", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("search", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("search" if os.environ.get("ROAMCAST_SEARCH") else "same")
FEW = int(os.environ.get("ROAMCAST_EXAMPLES", "0"))
"Most examples of each generated test (`make check` sets 15); 0 leaves each test its own number."


def pytest_collection_modifyitems(items):
    # A profile does not reach tests that give their own number, and hypothesis has no public way to lower it.
    for test in {item.obj for item in items if FEW and is_hypothesis_test(getattr(item, "obj", None))}:
        own = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(own, max_examples=min(FEW, own.max_examples))


# A shell starts background jobs with SIGINT ignored; children inherit it, and Ctrl-C tests would not end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def added():
    """Add a router class as a protocol until the test ends: added(name, class)."""
    names = []

    def add(name, router):
        names.append(name)
        catalogue.add(name, router)

    yield add
    for name in names:
        catalogue.remove(name)
