"""What the kernel says of a process."""

import os
import re
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used (proc(5), stat)."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS_PER_SECOND


def resident_bytes(pid: int) -> int:
    """Memory of a process, with what it shares (proc(5), statm)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def private_bytes(pid: int) -> int:
    """Memory that only this process has (proc(5), smaps_rollup)."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kilobytes) << 10 for kilobytes in re.findall(r"^Private_(?:Clean|Dirty): +(\d+)", text, re.M))


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def are_stopped(pid: int) -> bool:
    """Whether all threads of a process stand, as SIGSTOP makes them some time after it was sent (proc(5), state T)."""
    return all((task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
               for task in Path(f"/proc/{pid}/task").iterdir())
