"""What no input may take: more than a second of processor time, or 200 megabytes."""

import resource
import time
from collections.abc import Callable

SECONDS = 1.0
MEGABYTES = 200


def limited(attempt: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The attempt, which fails if it takes too much."""

    def watched(data: bytes) -> None:
        start = time.process_time()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        attempt(data)
        took = time.process_time() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert took < SECONDS, f"{took:.2f} s of processor time"
        assert grown < MEGABYTES, f"{grown:.0f} MB"

    return watched
