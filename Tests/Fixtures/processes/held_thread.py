"""Holds one thread of a process, as if it hung."""

import ctypes
import os
from pathlib import Path


class Held:
    """One thread of a process, held by ptrace(2): it stands as an endless loop would, and the others go on."""

    SEIZE, INTERRUPT, DETACH, ALL = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, pid: int, name: str):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        self.thread = next(int(task.name) for task in tasks if (task / "comm").read_text().strip() == name)
        self.call = ctypes.CDLL(None).ptrace
        self.call.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.call.restype = ctypes.c_long

    def __enter__(self):
        for request in (self.SEIZE, self.INTERRUPT):
            assert self.call(request, self.thread, None, None) == 0
        return self

    def __exit__(self, *_):
        if self.call(self.DETACH, self.thread, None, None) != 0:
            # It has ended, and its process with it only when its tracer has heard of that.
            os.waitpid(self.thread, self.ALL)
