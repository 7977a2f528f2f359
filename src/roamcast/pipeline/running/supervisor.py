"""The run supervisor: a process beside each Spark worker that forks a child per run and enforces its limits.

Limits must hold whatever a run does: a loop in the compiled kernel cannot be interrupted by a Python
exception, and a router may fork. Therefore the supervisor is a subreaper: every process that a run leaves
behind, in any process group or session, becomes a child of the supervisor, which kills it. If the worker
dies, even by SIGKILL, its end of the pipe closes; the supervisor then kills its descendants and exits.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from roamcast.pipeline.running.framing import PipeClosed, receive, send, split

Work = Callable[[], Iterable[dict[str, Any]]]
"The work of a child process: yields one report per run, which is sent to the caller as JSON."

FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT})
"Signals that other processes send: a run that one of them ends is repeated once."

_DIE_WITH_PARENT, _SUBREAPER = 1, 36
"Options of prctl: PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER."

_POLL_INTERVAL = 0.2
"Interval between checks of a run's memory [s]."

_LIBC = ctypes.CDLL(None, use_errno=True)
"Loaded once, not in the child process of each run."

_POLLS_PER_FULL_CHECK = 5
"Every so many checks, the memory of all descendants is counted instead of that of the child alone."


class SupervisorDied(Exception):
    """The supervisor was killed, and its run with it."""


class RunSupervisor:
    """The worker's handle of a supervisor process, which ends when this process does."""

    def __init__(self, prepare: Callable[[], object]) -> None:
        """Start the process; it calls `prepare` (imports that every run needs) before the first run."""
        self.ended = False
        _control(_SUBREAPER, 1)  # this process inherits the children of a killed supervisor
        self._others = set(descendants(os.getpid()))
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.pid = os.fork()
        if self.pid == 0:
            with suppress(BaseException):
                _supervisor_main(commands, answers, prepare)
            os._exit(1)
        os.close(commands)
        os.close(answers)

    def run(self, work: Any, seconds: float, memory: float) -> dict[str, Any]:
        """Do `work` in a child process and return its `reports` and, if it failed, the reason.

        The reason is `died` (a signal number, or 0 and an exit `code`) or the exceeded `limit`: `seconds`
        between two reports, or bytes of `memory`. Raises `SupervisorDied` if the supervisor is killed.
        """
        try:
            send(self._commands, pickle.dumps((work, seconds, memory)))
            result: dict[str, Any] = json.loads(receive(self._answers))
            return result
        except (PipeClosed, BrokenPipeError):
            self.stop()
            raise SupervisorDied from None

    def stop(self) -> None:
        """End the supervisor and all processes that it has started."""
        self.ended = True
        for end in (self._commands, self._answers):
            os.close(end)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        while orphans := set(descendants(os.getpid())) - self._others:
            _kill(orphans)
            for orphan in orphans:
                with suppress(ChildProcessError):
                    os.waitpid(orphan, 0)


def _supervisor_main(commands: int, answers: int, prepare: Callable[[], object]) -> NoReturn:
    """Run the supervisor process: prepare, then serve one command after the other until the pipe closes."""
    os.setsid()  # signals of the terminal and of the worker's process group do not reach it
    _control(_SUBREAPER, 1)
    _close_all_but({0, 1, 2, commands, answers})
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(Exception):  # the run that needs the import reports its error
            prepare()
        while True:
            command = receive(commands)
            send(answers, json.dumps(_supervise(command, commands)).encode())
    except (PipeClosed, BrokenPipeError):
        end_descendants()
        os._exit(0)


def _supervise(command: bytes, commands: int) -> dict[str, Any]:
    """Fork a child for the work, wait for its last report, its end or its limit, and kill its descendants."""
    work, seconds, memory = pickle.loads(command)
    read_end, write_end = os.pipe()
    supervisor = os.getpid()
    most = _status(supervisor, "VmData") + int(memory)
    child = os.fork()
    # Every page that the child touches from here on is copied, so it does as little as possible.
    if child == 0:
        _close_all_but({0, 1, 2, write_end})  # processes that the run forks must not keep these pipes open
        _child_main(work, most, supervisor, write_end)
    os.close(write_end)
    with suppress(OSError):
        os.setpgid(child, child)
    handle = os.pidfd_open(child)
    reports: list[Any] = []
    try:
        ending = _collect_reports(child, (read_end, handle, commands), reports, seconds, memory)
    finally:
        os.close(handle)
        os.close(read_end)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _kill([child])  # it may have left its process group
        status = os.waitpid(child, 0)[1]
        end_descendants()
    if ending == "died":
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return {"reports": reports, "died": died, "code": 0 if died else os.waitstatus_to_exitcode(status)}
    return {"reports": reports} | ({"limit": ending} if ending else {})


def _collect_reports(
    child: int, ends: tuple[int, int, int], reports: list[Any], seconds: float, memory: float
) -> str:
    """Append the child's reports to `reports`; return "" at its end, the limit that it exceeds, or `died`."""
    read_end, handle, commands = ends
    inherited = _private_memory(os.getpid())
    deadline = monotonic() + seconds
    received = b""
    polls = 0
    while (left := deadline - monotonic()) > 0:
        ready = select.select(ends, [], [], min(left, _POLL_INTERVAL))[0]
        if commands in ready:
            raise PipeClosed  # the worker is gone
        if read_end in ready:
            more = os.read(read_end, 1 << 16)
            # A process forked by the run may hold the other end open: an empty message marks the end.
            messages, received = split(received + more)
            for message in messages:
                if not message:
                    return ""
                reports.append(json.loads(message))
                deadline = monotonic() + seconds
            if more:
                continue
        if handle in ready:
            return "died"
        if not ready:
            polls += 1
            full_check = polls % _POLLS_PER_FULL_CHECK == 0
            if (_memory_used(os.getpid()) if full_check else _private_memory(child) - inherited) > memory:
                return "memory"
    return "time"


def _child_main(work: Work, most: int, supervisor: int, write_end: int) -> NoReturn:
    """Set the limits, do the work, and send a report to the supervisor after each run."""
    with suppress(BaseException):
        _set_limits(most, supervisor)
        for report in _resource_usage(work()):
            send(write_end, json.dumps(report).encode())
        send(write_end, b"")
    os._exit(0)


def _resource_usage(reports: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the reports, each with the CPU time since the previous one [s] and the peak memory [B]."""
    spent = 0.0
    for report in reports:
        used = resource.getrusage(resource.RUSAGE_SELF)
        before, spent = spent, used.ru_utime + used.ru_stime
        yield report | {"cpu": spent - before, "memory": used.ru_maxrss * 1024}
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak for the next run


def _set_limits(most: int, supervisor: int) -> None:
    with suppress(OSError):
        os.setpgid(0, 0)
    die_with_parent(supervisor)
    # An allocation beyond this limit raises MemoryError, which the run can report. The supervisor sees memory
    # that is mapped in other ways or held by children of the run.
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent(parent: int) -> None:
    """Let the operating system kill this process when `parent`, which forked it, ends."""
    _control(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _control(option: int, argument: int) -> None:
    _LIBC.prctl(option, argument, 0, 0, 0)


def _close_all_but(kept: set[int]) -> None:
    """Close all inherited descriptors except `kept`: a run must not hold its worker's connections open."""
    first = 0
    for end in sorted(kept):
        if first < end:  # some Python versions take an empty range as all descriptors
            os.closerange(first, end)
        first = end + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _status(process: int | str, *keys: str) -> int:
    """Return the sum of the fields `keys` of /proc/PROCESS/status [B]; 0 if the process is gone."""
    with suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.partition(":")[0] in keys)
    return 0


def _private_memory(process: int) -> int:
    return _status(process, "RssAnon", "RssShmem")


def _memory_used(supervisor: int) -> int:
    """Return the memory of a run and its descendants without the pages inherited from the supervisor [B].

    Shared pages are counted once: by proportional set size, and the supervisor's own share is subtracted per
    process.
    """
    private = {process: _private_memory(process) for process in descendants(supervisor)}
    inherited = _private_memory(supervisor)
    if len(private) == 1:
        return sum(private.values()) - inherited
    shares = [_share(process, held) for process, held in private.items()]
    return sum(shares) - len(shares) * _share(supervisor, inherited)


def _share(process: int, otherwise: int) -> int:
    """Return the proportional set size of a process [B]; `otherwise` if it cannot be read."""
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        keys = ("Pss_Anon", "Pss_Shmem")
        return sum(int(line.split()[1]) << 10 for line in lines if line.partition(":")[0] in keys)
    return otherwise


def descendants(process: int) -> list[int]:
    """Return the ids of all descendants of a process, inherited ones included."""
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - hundreds of names, several times a second
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                below.setdefault(int(stat.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found, waiting = [], [process]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def end_descendants() -> None:
    """Kill and reap all descendants of this process.

    This process inherits the children of those that it kills, so the loop ends when no child is left.
    """
    with suppress(ChildProcessError):
        while True:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                _kill(descendants(os.getpid()))
                os.waitpid(-1, 0)


def _kill(processes: Iterable[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
