"""A child process that does the work of requests: it may take long, use much memory, or crash.

The parent writes a request as a line of JSON and reads a line of answer. A request that takes longer than
its limit ends with its process; the next request starts another.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from roamcast.errors import UserError

MOST_ANSWER = 256_000_000
"Maximum length of an answer [B]."


class Worker:
    """One child process in the studio's folder, started when it is needed."""

    def __init__(self, folder: Path, limit: float) -> None:
        self._folder = folder
        self._limit = limit
        "Maximum duration of one request [s]."
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, task: str, **arguments: Any) -> Any:
        """Return the answer of a task; raise UserError with its message if it has one."""
        async with self._turn:
            process = await self._start()
            assert process.stdin is not None and process.stdout is not None
            line = json.dumps({"task": task, "arguments": arguments}).encode() + b"\n"
            try:
                async with asyncio.timeout(self._limit):
                    process.stdin.write(line)
                    await process.stdin.drain()
                    answer = await process.stdout.readline()
            except TimeoutError:
                await self.close()
                raise UserError(f"this takes longer than {self._limit:g} s; it was stopped") from None
            except (OSError, ValueError):
                answer = b""
            except asyncio.CancelledError:  # the browser closed the connection
                await self.close()
                raise
            if not answer.endswith(b"\n"):
                await self.close()
                raise UserError("this ended its process; probably it needs more memory than is allowed")
        found = json.loads(answer)
        if "error" in found:
            raise UserError(found["error"])
        return found["answer"]

    async def _start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "roamcast.studio.child.tasks",
                cwd=self._folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MOST_ANSWER,
                start_new_session=True,  # Ctrl-C in the terminal ends the server, which ends this
            )
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()
