"""The keeper of runs: a process beside each worker that starts the processes of runs and ends them.

A limit must hold whatever a run does: a loop in the compiled kernel hears no Python exception, a router may
fork, and memory has many names. So the keeper is a subreaper: whatever a run leaves behind, in whichever
group or session, becomes the keeper's child and is killed. A worker that dies, by SIGKILL too, closes the
pipe on which its keeper listens, and the keeper ends all that it has started and itself.
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
"What a process of runs does; what it has to say after each goes to whoever asked for it, as JSON."

FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT})
"Signals that a run does not get by its own fault."

_DIE_WITH_PARENT, _SUBREAPER = 1, 36
"Of prctl."

_BETWEEN_LOOKS = 0.2
"Seconds between looks at how much memory a run holds."

_LIBC = ctypes.CDLL(None, use_errno=True)
"Loaded here and not by each run's process."

_LOOKS = 5
"How often its own process is looked at before all that it started is, too, which takes longer."


class SupervisorDied(Exception):
    """The keeper was killed, and with it the run."""


class RunSupervisor:
    """The worker's end of a keeper; it ends with this process."""

    def __init__(self, prepare: Callable[[], object]) -> None:
        """Start one, and have it do what every run needs (`prepare`: imports) before the first run asks."""
        self.ended = False
        _control(_SUBREAPER, 1)  # if the keeper is killed, what it kept comes to us
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
        """Have `work` done in a process of its own and hear what it `said`, and how it ended if not well.

        That is `died`, or the `limit` that it passed: `seconds` from one thing said to the next, and bytes of
        `memory`. Raises `KeeperDied` if the keeper does not live to tell.
        """
        try:
            send(self._commands, pickle.dumps((work, seconds, memory)))
            told: dict[str, Any] = json.loads(receive(self._answers))
            return told
        except (PipeClosed, BrokenPipeError):
            self.stop()
            raise SupervisorDied from None

    def stop(self) -> None:
        """End the keeper and whatever it has started."""
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
    """The keeper's whole life."""
    os.setsid()  # Ctrl-C and the ends of groups are not for it
    _control(_SUBREAPER, 1)
    _close_all_but({0, 1, 2, commands, answers})
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(Exception):  # the run that needs it will say what is wrong
            prepare()
        while True:
            asked = receive(commands)
            send(answers, json.dumps(_supervise(asked, commands)).encode())
    except (PipeClosed, BrokenPipeError):
        end_descendants()
        os._exit(0)


def _supervise(asked: bytes, commands: int) -> dict[str, Any]:
    """Run the child to its last word, its end or its limit; then end all that it left."""
    work, seconds, memory = pickle.loads(asked)
    read_end, write_end = os.pipe()
    keeper = os.getpid()
    most = _status(keeper, "VmData") + int(memory)
    child = os.fork()
    # Every page that the child's side touches from here on is copied: it does no more than it must.
    if child == 0:
        _close_all_but({0, 1, 2, write_end})  # or whatever the run forks could keep the keeper's pipes open
        _child_main(work, most, keeper, write_end)
    os.close(write_end)
    with suppress(OSError):
        os.setpgid(child, child)
    handle = os.pidfd_open(child)
    said: list[Any] = []
    try:
        ending = _collect_reports(child, (read_end, handle, commands), said, seconds, memory)
    finally:
        os.close(handle)
        os.close(read_end)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _kill([child])  # which may have left its group
        status = os.waitpid(child, 0)[1]
        end_descendants()
    if ending == "died":
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return {"said": said, "died": died, "code": 0 if died else os.waitstatus_to_exitcode(status)}
    return {"said": said} | ({"limit": ending} if ending else {})


def _collect_reports(
    child: int, ends: tuple[int, int, int], said: list[Any], seconds: float, memory: float
) -> str:
    """Gather what the child says; empty if it came to its end, else the limit that it passed, or `died`."""
    read_end, handle, commands = ends
    inherited = _private_memory(os.getpid())
    deadline = monotonic() + seconds
    heard = b""
    looks = 0
    while (left := deadline - monotonic()) > 0:
        ready = select.select(ends, [], [], min(left, _BETWEEN_LOOKS))[0]
        if commands in ready:
            raise PipeClosed  # nobody waits for an answer any more
        if read_end in ready:
            more = os.read(read_end, 1 << 16)
            # A fork of the run may hold the other end: what counts is that the last word is there.
            words, heard = split(heard + more)
            for word in words:
                if not word:
                    return ""
                said.append(json.loads(word))
                deadline = monotonic() + seconds
            if more:
                continue
        if handle in ready:
            return "died"
        if not ready:
            looks += 1
            all_of_it = looks % _LOOKS == 0
            if (_memory_used(os.getpid()) if all_of_it else _private_memory(child) - inherited) > memory:
                return "memory"
    return "time"


def _child_main(work: Work, most: int, keeper: int, write_end: int) -> NoReturn:
    """The child's whole life: limits, work, a word to the keeper after each run; it never returns."""
    with suppress(BaseException):
        _set_limits(most, keeper)
        for told in _resource_usage(work()):
            send(write_end, json.dumps(told).encode())
        send(write_end, b"")
    os._exit(0)


def _resource_usage(said: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What is said, each with what it took of the processor since the one before, and the most memory."""
    spent = 0.0
    for told in said:
        used = resource.getrusage(resource.RUSAGE_SELF)
        before, spent = spent, used.ru_utime + used.ru_stime
        yield told | {"cpu": spent - before, "memory": used.ru_maxrss * 1024}
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the next one's most is its own


def _set_limits(most: int, keeper: int) -> None:
    with suppress(OSError):
        os.setpgid(0, 0)
    die_with_parent(keeper)
    # A process that asks for more gets a MemoryError and can say so; what it asks for in other ways, or
    # by its children, the keeper sees.
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which forked it, ends in whatever way."""
    _control(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _control(option: int, argument: int) -> None:
    _LIBC.prctl(option, argument, 0, 0, 0)


def _close_all_but(kept: set[int]) -> None:
    """A run must not hold its worker's connections open."""
    first = 0
    for end in sorted(kept):
        if first < end:  # of none before 0, some Pythons make all
            os.closerange(first, end)
        first = end + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _status(process: int | str, *keys: str) -> int:
    """The sum of what /proc tells of a process under `keys`, in bytes; 0 if it is gone."""
    with suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.partition(":")[0] in keys)
    return 0


def _private_memory(process: int) -> int:
    return _status(process, "RssAnon", "RssShmem")


def _memory_used(keeper: int) -> int:
    """Bytes that a run and all that it started hold besides what they have from the keeper.

    What they share is counted once. Of what all have from the keeper, each has as large a share as it.
    """
    quick = {process: _private_memory(process) for process in descendants(keeper)}
    inherited = _private_memory(keeper)
    if len(quick) == 1:
        return sum(quick.values()) - inherited
    shares = [_share(process, held) for process, held in quick.items()]
    return sum(shares) - len(shares) * _share(keeper, inherited)


def _share(process: int, otherwise: int) -> int:
    """A process's share of what it holds together with others."""
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        keys = ("Pss_Anon", "Pss_Shmem")
        return sum(int(line.split()[1]) << 10 for line in lines if line.partition(":")[0] in keys)
    return otherwise


def descendants(process: int) -> list[int]:
    """The processes that `process` started or inherited, and all that these started."""
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
    """Kill and reap everything below this process.

    What is killed leaves its children to us, so it is over when there are none; most often there are none
    to begin with, and nobody need be looked for.
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
