"""A program in a terminal of its own: a pseudo-terminal with a size, keys, and the frames that it shows."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unicodedata

from Fixtures.processes.node import ENVIRONMENT
from Fixtures.waiting import eventually

HOME, LEAVE = b"\x1b[H", b"\x1b[?1049l"
SEQUENCE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def width(text: str) -> int:
    """Columns that a text takes on a screen."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


class TerminalProcess:
    """A process whose session has the terminal; the test holds the other end."""

    def __init__(self, arguments: list[str], columns: int = 100, rows: int = 30, **environment: str):
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.resize(columns, rows)
        self.before = self.settings()
        self.output = b""
        slave = self.slave

        def own_terminal():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=own_terminal,
            env=ENVIRONMENT | {"TERM": "xterm-256color", "LANG": "C.UTF-8"} | environment)

    # The other end

    def resize(self, columns: int, rows: int) -> None:
        """Changes the size; the kernel sends SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Presses keys."""
        os.write(self.master, keys.encode())

    def settings(self) -> list:
        """The settings of the terminal."""
        return termios.tcgetattr(self.slave)

    def read(self) -> bytes:
        """Everything that was written so far."""
        while True:
            try:
                part = os.read(self.master, 65_536)
            except (BlockingIOError, OSError):
                return self.output
            if not part:
                return self.output
            self.output += part

    def unread(self) -> int:
        """Bytes that wait for a reader."""
        return struct.unpack("i", fcntl.ioctl(self.master, termios.FIONREAD, b"\0" * 4))[0]

    def frame(self) -> list[str]:
        """The lines of the last whole frame; none before the first."""
        whole = [part for part in self.read().split(HOME)[1:] if b"\x1b[J" in part]
        if not whole:
            return []
        text = whole[-1].split(b"\x1b[J")[0]
        # The kernel may add a carriage return of its own.
        return re.split(r"\r+\n", SEQUENCE.sub(b"", text).decode())

    def shows(self, text: str, seconds_max: float = 10) -> list[str]:
        """Waits for a frame that has this text."""
        def seen():
            assert self.process.poll() is None, self.read()[-2_000:]
            lines = self.frame()
            return lines if any(text in line for line in lines) else None

        return eventually(seen, seconds_max, f"a frame with {text!r}")

    # The end

    def wait(self, seconds_max: float = 10) -> int:
        """Waits for the end, and takes what the program still writes."""
        def ended():
            self.read()
            return self.process.poll() is not None

        eventually(ended, seconds_max, "the end of the program")
        self.read()
        return self.process.returncode

    def is_restored(self) -> bool:
        """Whether the terminal is as it was: its settings, and its own screen with a cursor."""
        output = self.read()
        return self.settings() == self.before and output.count(b"\x1b[?1049h") == output.count(LEAVE) \
            and output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l")

    def hang_up(self) -> None:
        """The terminal goes away, as when its window is closed."""
        os.close(self.master)
        os.close(self.slave)
        self.master = self.slave = None

    def close(self) -> None:
        """Ends the process, if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        for descriptor in filter(None, (self.master, self.slave)):
            os.close(descriptor)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
