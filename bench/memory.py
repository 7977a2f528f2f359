"""Peak memory of a process, without that of its parent."""

from pathlib import Path


def peak_memory() -> int:
    """Return the peak resident memory of this program [B].

    `ru_maxrss` is inherited from the parent's memory at the fork, also by a program started with `exec`.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
