"""Errors of Spark as messages of one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from roamcast.errors import UserError
from roamcast.fingerprint import OTHER_CODE


class SessionError(UserError):
    """Spark cannot start, or has stopped."""


def interrupted(error: BaseException) -> bool:
    """Return whether an error is a consequence of Ctrl-C.

    PySpark, interrupted while it waits for the JVM, sends another request during clean-up and fails on its
    answer.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        if isinstance(found, KeyboardInterrupt):
            return True
        seen.add(id(found))
        found = found.__cause__ or found.__context__
    return False


def one_line(error: BaseException) -> str:
    """Return the first informative line of an error; Spark's errors have thousands of characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Exception:" in line or "Error:" in line or "crashed" in line]
    return (telling or lines or [type(error).__name__])[0][:300]


def _is_lost(error: BaseException) -> bool:
    """Return whether a Spark Connect server does not answer, or does not know the session after a restart."""
    text = f"{type(error).__name__} {error}"
    return any(word in text for word in ("UNAVAILABLE", "INVALID_HANDLE.SESSION", "RetriesExceeded"))


@contextmanager
def format_error(what: str, keeps: bool = True) -> Iterator[None]:
    """Raise a `SessionError` of one line if Spark fails in the block; errors of Roamcast pass unchanged.

    The message says which command to repeat and, if the command `keeps` runs, that finished runs are kept.
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    again = "finished runs are kept: run the same command again" if keeps else "run the same command again"
    try:
        yield
    except (Py4JNetworkError, ConnectionError, EOFError):
        raise SessionError(f"Spark's Java process ended while it was {what}; {again}") from None
    except (PySparkException, Py4JError) as error:
        if found := re.search(OTHER_CODE, str(error)):
            raise SessionError(found[0]) from None
        if _is_lost(error):
            raise SessionError(f"the Spark Connect server ended while it was {what}; {again}") from None
        raise SessionError(f"Spark gave up {what}: {one_line(error)}; {again}") from None
