import os

from hypothesis import settings

# A busy machine makes no example wrong: time is measured in bench/, not here.
# On CI the examples are the same each time, so that what passes there passes again.
settings.register_profile("roamcast", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("roamcast")
