"""A process that takes commands on its stdin, one a line, and answers each by one line on its stdout."""

import json
import os
import select
import subprocess
import threading
import time
from pathlib import Path

ANSWER_SECONDS_MAX = 30
END_SECONDS_MAX = 20


class Commanded:
    """Publishers and crowds; ended by `quit`, by the end of their stdin, or at last by their pid."""

    def __init__(self, arguments, log: Path):
        self.log_path = Path(log)
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                [str(argument) for argument in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        self._pending = b""
        self._turn = threading.Lock()

    def ask(self, command: str, seconds_max: float = ANSWER_SECONDS_MAX) -> str:
        """Sends a command and returns its answer."""
        with self._turn:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
            return self.answer(seconds_max, command)

    def answer(self, seconds_max: float = ANSWER_SECONDS_MAX, command: str = "start") -> str:
        """The next line of its stdout."""
        deadline = time.monotonic() + seconds_max
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"no answer to {command!r} within {seconds_max} s\n{self._tail()}")
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            if not chunk:
                raise RuntimeError(f"it ended before it answered {command!r}\n{self._tail()}")
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode()

    def end(self) -> None:
        """Ends it in good order if it still runs."""
        if self.process.poll() is None:
            try:
                self.process.stdin.write(b"quit\n")
                self.process.stdin.close()
                self.process.wait(END_SECONDS_MAX)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()

    def _tail(self) -> str:
        return self.log_path.read_text(errors="replace")[-2_000:]


class Crowds:
    """Several crowds that are asked and ended as one."""

    def __init__(self, members: list):
        self.members = members

    def ask(self, command: str, seconds_max: float = ANSWER_SECONDS_MAX) -> str:
        """Asks all; figures are added, of times the largest counts, and what one does not know is unknown."""
        answers = [member.ask(command, seconds_max) for member in self.members]
        if command != "status":
            return answers[0]
        answers = [json.loads(answer) for answer in answers]
        merged = {}
        for name in answers[0]:
            values = [answer[name] for answer in answers]
            known = [value for value in values if value is not None]
            merge = max if name.endswith("Ms") else sum
            merged[name] = merge(known) if len(known) == len(values) or (known and name != "backMs") else None
        return json.dumps(merged)

    def end(self) -> None:
        """Ends all in good order."""
        for member in self.members:
            member.end()
