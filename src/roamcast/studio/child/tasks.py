"""The tasks of a worker: `python -m roamcast.studio.child.tasks` reads requests and writes answers."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from roamcast.errors import UserError
from roamcast.studio.editing import checking, predicting
from roamcast.studio.reading import answers, files, live

MOST_MEMORY = 12 << 30
"Maximum address space of a worker [B]; libraries reserve several GiB without using them."

TASKS: dict[str, Callable[..., Any]] = {
    "check": checking.check,
    "edit": checking.edit,
    "predict": predicting.predict,
    "overview": checking.overview,
    "able": checking.find_able,
    "import": checking.import_trace,
    "cells": answers.read_cells,
    "summary": answers.summarise,
    "answer": answers.read_answer,
    "why": answers.count_causes,
    "explain": answers.explain,
    "replay": files.write_replay,
    "table": files.write_csv,
    "live events": live.list_events,
    "live replay": live.write_live_replay,
}
"The functions that a request can name."


def main() -> None:
    """Answer requests from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    answers_to = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin.buffer:
        answers_to.write(msgspec.json.encode(answer(line)) + b"\n")
        answers_to.flush()


def answer(line: bytes) -> dict[str, Any]:
    """Return the answer to a request, or its error."""
    request = json.loads(line)
    try:
        return {"answer": TASKS[request["task"]](**request["arguments"])}
    except UserError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "this needs more memory than is allowed"}
    except Exception as error:  # a defect must not end the server; it is reported as one
        print(f"roamcast studio: {request['task']}: {type(error).__name__}: {error}", file=sys.stderr)
        return {"error": f"an error in Roamcast: {type(error).__name__}: {str(error)[:300]}"}


if __name__ == "__main__":
    main()
