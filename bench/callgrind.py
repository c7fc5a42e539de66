"""Profiles of callgrind: instructions and calls of each thread of a process, the same on any host, however busy.

A dump tells what each thread did since the dump before. Valgrind runs one thread at a time and knows no SHA and ADX
instructions; the kernel's work is not in a profile.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

#: Parts of a line that name a function, an object or a file: `fn=(12) name`, and `fn=(12)` from then on.
NAME = re.compile(r"\((\d+)\)(?: (.*))?$")
#: Names of one function: glibc's own of those that others replace.
PREFIXES = ("__libc_", "__GI___libc_", "__GI_")


@dataclass
class Profile:
    """What was executed, in all and by function; the difference and the share of such profiles are profiles, too."""

    instructions: float = 0
    #: Calls of a function, instructions of its own, and those with all that it calls.
    calls: Counter = field(default_factory=Counter)
    own: Counter = field(default_factory=Counter)
    inclusive: Counter = field(default_factory=Counter)

    def combined(self, other: "Profile", factor: float) -> "Profile":
        """This profile, and `factor` times the other."""
        return Profile(self.instructions + factor * other.instructions, *(
            Counter({name: mine[name] + factor * others[name] for name in {*mine, *others}})
            for mine, others in ((self.calls, other.calls), (self.own, other.own), (self.inclusive, other.inclusive))))

    def scaled(self, factor: float) -> "Profile":
        """So many times this profile."""
        return Profile().combined(self, factor)

    def count(self, names: set[str]) -> float:
        """Calls of any of these functions."""
        return sum(self.calls[name] for name in names)


def read_profile(path: Path) -> tuple[int, Profile]:
    """The number of a thread and its profile, from one file of a dump with `--separate-threads=yes`.

    A function that calls itself by way of others is counted more than once in its inclusive figure.
    """
    thread, profile, names = 0, Profile(), {}
    function = called = ""

    def named(text: str) -> str:
        number, name = NAME.match(text).groups()
        if name is not None:
            for prefix in PREFIXES:
                name = name.removeprefix(prefix)
            names[number] = name
        return names[number]

    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("fn="):
                function = named(line[3:].rstrip())
            elif line.startswith("cfn="):
                called = named(line[4:].rstrip())
            elif line.startswith("calls="):
                # The line behind tells what these calls took.
                profile.calls[called] += int(line[6:].split()[0])
                cost = int(next(lines).split()[1])
                if called != function:
                    profile.inclusive[function] += cost
            elif line[0] in "0123456789+-*" and function:
                words = line.split()
                cost = int(words[1]) if len(words) > 1 else 0
                profile.own[function] += cost
                profile.inclusive[function] += cost
                profile.instructions += cost
            elif line.startswith("thread: "):
                thread = int(line.split()[1])
    return thread, profile


class Counted:
    """A process that callgrind runs, begun with the words of `command()`; its `pid` is set by who begins it."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.path = directory / "profile"
        self.pid = 0
        self.dumps = 0

    def command(self, binary: Path) -> list[str]:
        """The beginning of a command line that runs the binary; without what debuggers need, which valgrind reads long
        and partly in vain."""
        stripped = self.directory / "binary"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
        # The threads take turns, so that a busy host leaves their order more often as it was.
        return ["valgrind", "--quiet", "--tool=callgrind", "--fair-sched=yes", "--separate-threads=yes",
                "--demangle=no", f"--callgrind-out-file={self.path}", str(stripped)]

    def dump(self) -> dict[str, Profile]:
        """What each thread did since the last dump, by the thread's name; threads of one name are one."""
        subprocess.run(["callgrind_control", "--dump", str(self.pid)], check=True, capture_output=True)
        self.dumps += 1
        found = {}
        for path in self.directory.glob(f"{self.path.name}.{self.dumps}-*"):
            number, profile = read_profile(path)
            name = self.thread_names().get(number, "ended")
            found[name] = found.get(name, Profile()).combined(profile, 1)
            path.unlink()
        return found

    def thread_names(self) -> dict[int, str]:
        """The names of threads by valgrind's numbers."""
        status = subprocess.run(["vgdb", f"--pid={self.pid}", "v.info", "scheduler"], check=True, capture_output=True,
                                text=True).stdout
        return {int(number): Path(f"/proc/{self.pid}/task/{task}/comm").read_text().strip()
                for number, task in re.findall(r"^Thread (\d+): .*\(lwpid (\d+)\)", status, re.M)}
