"""What goes wrong with Spark, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from roamcast.errors import UserError
from roamcast.fingerprint import OTHER_CODE


class SessionError(UserError):
    """Spark cannot start here, or stopped."""


def interrupted(error: BaseException) -> bool:
    """Whether an error is only what became of Ctrl-C.

    PySpark, interrupted while the JVM answers, asks it once more on its way out and complains of the answer.
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
    """The first line of an error that says something; Spark's errors are thousands of characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Exception:" in line or "Error:" in line or "crashed" in line]
    return (telling or lines or [type(error).__name__])[0][:300]


def _is_lost(error: BaseException) -> bool:
    """Whether a server of Spark Connect does not answer, or has forgotten the session because it is new."""
    told = f"{type(error).__name__} {error}"
    return any(word in told for word in ("UNAVAILABLE", "INVALID_HANDLE.SESSION", "RetriesExceeded"))


@contextmanager
def format_error(what: str, keeps: bool = True) -> Iterator[None]:
    """Tell in one line if Spark fails in the block; an error of our own code stays as it is.

    The line says what to do again, and that finished runs are kept, if the command `keeps` any.
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
