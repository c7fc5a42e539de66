#!/usr/bin/env python3
"""Checks that the folders of the gateway use only what lies below them (CONTRIBUTING.md, "Where a change goes").

usage: scripts/walls.py STORE [--write]
  STORE    the index of a debug build, e.g. .build/debug/index/store
  --write  writes the list of debts anew, from what the build uses

The compiler writes into the index which declaration each name in the code stands for. So a member is seen as well as a
type: `shard.presence.store.list` in a route is a use of three folders. A folder may use the declarations of the folders
after its colon below, and no others; the requirement of a protocol belongs to the folder that declares the protocol.

Uses that break the rule today are debts (`scripts/walls-debts.txt`): FOLDER, folder of the declaration, its name. The
list only gets shorter: a debt that is paid must leave it. Each offence is printed as FILE:LINE: NAME of FOLDER.
exit: 0 when all walls stand, 1 when one does not, 2 when the index cannot be read
"""

import collections
import ctypes
import pathlib
import shutil
import sys

PLACE = "/Sources/Gateway/"
DEBTS = pathlib.Path(__file__).resolve().with_name("walls-debts.txt")

# Folders from the bottom to the top; `.` is the wiring, which may use everything.
WALLS = {
    "Operations": [],
    "Deliveries": ["Operations"],
    "Topics": ["Operations", "Deliveries"],
    "Bus": [],
    "Store": ["Operations", "Topics"],
    "Commands": ["Operations", "Store"],
    "Sessions": ["Operations", "Deliveries", "Topics"],
    "Presence": ["Operations", "Deliveries", "Topics", "Store"],
    "Rights": ["Operations", "Store", "Sessions", "HTTP"],
    "Relay": [],
    "Transports": ["Operations", "Deliveries", "Topics", "Sessions", "Relay"],
    "HTTP": ["Operations", "Deliveries", "Topics", "Store", "Commands", "Sessions", "Transports"],
    "Demo": ["Operations", "Store", "Commands", "HTTP"],
}
# An index of fewer files is one of another build, or of another format.
FILES_MIN = 100

# The C interface of the toolchain's index library (clang, indexstore.h).
POINTER, FLAG = ctypes.c_void_p, ctypes.c_bool
DEPENDENCY_RECORD = 2
DEFINITION, REFERENCE = 1 << 1, 1 << 2


class Text(ctypes.Structure):
    """A text of the library: bytes that it owns, and their number."""

    _fields_ = [("data", POINTER), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


EACH_TEXT = ctypes.CFUNCTYPE(FLAG, POINTER, Text)
EACH_POINTER = ctypes.CFUNCTYPE(FLAG, POINTER, POINTER)


class Index:
    """The store of a build."""

    FUNCTIONS = {
        "store_create": (POINTER, ctypes.c_char_p, POINTER),
        "store_units_apply_f": (FLAG, POINTER, ctypes.c_uint, POINTER, EACH_TEXT),
        "unit_reader_create": (POINTER, POINTER, ctypes.c_char_p, POINTER),
        "unit_reader_dispose": (None, POINTER),
        "unit_reader_get_main_file": (Text, POINTER),
        "unit_reader_dependencies_apply_f": (FLAG, POINTER, POINTER, EACH_POINTER),
        "unit_dependency_get_kind": (ctypes.c_int, POINTER),
        "unit_dependency_get_name": (Text, POINTER),
        "unit_dependency_get_filepath": (Text, POINTER),
        "record_reader_create": (POINTER, POINTER, ctypes.c_char_p, POINTER),
        "record_reader_dispose": (None, POINTER),
        "record_reader_occurrences_apply_f": (FLAG, POINTER, POINTER, EACH_POINTER),
        "occurrence_get_symbol": (POINTER, POINTER),
        "occurrence_get_roles": (ctypes.c_uint64, POINTER),
        "occurrence_get_line_col": (None, POINTER, POINTER, POINTER),
        "symbol_get_usr": (Text, POINTER),
        "symbol_get_name": (Text, POINTER),
    }

    def __init__(self, path: str):
        compiler = shutil.which("swiftc")
        if not compiler:
            raise OSError("swiftc is not on PATH")
        library = ctypes.CDLL(str(pathlib.Path(compiler).resolve().parents[1] / "lib" / "libIndexStore.so"))
        for name, (result, *arguments) in self.FUNCTIONS.items():
            function = getattr(library, f"indexstore_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.store = self.store_create(path.encode(), None)
        if not self.store:
            raise OSError(f"{path} is no index")

    def units(self) -> list[str]:
        """Names of the compiled files' units."""
        names = []
        self.store_units_apply_f(self.store, 1, None, EACH_TEXT(lambda _, name: names.append(str(name)) or True))
        return names

    def record(self, unit: str) -> tuple[str, str] | None:
        """The path of a unit's source file, and the record of what stands in it."""
        reader = self.unit_reader_create(self.store, unit.encode(), None)
        if not reader:
            return None
        path, found = str(self.unit_reader_get_main_file(reader)), []

        def each(_, dependency):
            if (self.unit_dependency_get_kind(dependency) == DEPENDENCY_RECORD
                    and str(self.unit_dependency_get_filepath(dependency)) == path):
                found.append(str(self.unit_dependency_get_name(dependency)))
            return True

        self.unit_reader_dependencies_apply_f(reader, None, EACH_POINTER(each))
        self.unit_reader_dispose(reader)
        return (path, found[0]) if found else None

    def occurrences(self, record: str) -> list[tuple[int, str, str, int]]:
        """Roles, id and name of each declaration that a file names, and the line."""
        reader = self.record_reader_create(self.store, record.encode(), None)
        found, line, column = [], ctypes.c_uint(), ctypes.c_uint()

        def each(_, occurrence):
            symbol = self.occurrence_get_symbol(occurrence)
            self.occurrence_get_line_col(occurrence, ctypes.byref(line), ctypes.byref(column))
            found.append((self.occurrence_get_roles(occurrence), str(self.symbol_get_usr(symbol)),
                          str(self.symbol_get_name(symbol)), line.value))
            return True

        self.record_reader_occurrences_apply_f(reader, None, EACH_POINTER(each))
        self.record_reader_dispose(reader)
        return found


def folder(path: str) -> str:
    parts = path.split(PLACE)[1].split("/")
    return parts[0] if len(parts) > 1 else "."


def uses(store: str) -> dict[tuple[str, str, str], list[str]]:
    """What breaks the walls: folder, folder of the declaration, its name; and the places."""
    index = Index(store)
    # A file that no longer exists may still be in the index.
    records = {path: record for path, record in filter(None, map(index.record, index.units()))
               if PLACE in path and pathlib.Path(path).exists()}
    if len(records) < FILES_MIN:
        raise OSError(f"{store} knows {len(records)} files of the gateway")
    files = {path: index.occurrences(record) for path, record in records.items()}
    homes = {usr: folder(path) for path, found in files.items() for roles, usr, _, _ in found if roles & DEFINITION}
    broken = collections.defaultdict(list)
    for path, found in sorted(files.items()):
        here = folder(path)
        for roles, usr, name, line in found:
            home = homes.get(usr, here)
            if here == "." or not roles & REFERENCE or home == here or home in WALLS.get(here, []):
                continue
            broken[here, home, name.split("(")[0]].append(f"{path.split(PLACE)[1]}:{line}")
    return broken


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        broken = uses(sys.argv[1])
    except OSError as error:
        print(f"walls: {error}", file=sys.stderr)
        return 2
    if sys.argv[2:]:
        DEBTS.write_text("".join(f"{' '.join(use)}\n" for use in sorted(broken)))
    debts = {tuple(line.split()) for line in DEBTS.read_text().splitlines()}
    for use in sorted(set(broken) - debts):
        print(f"{broken[use][0]}: {use[2]} of {use[1] if use[1] != '.' else 'the wiring'}")
    for here, home, name in sorted(debts - set(broken)):
        print(f"{here} no longer uses {name} of {home}: take it from {DEBTS.name}")
    if set(broken) != debts:
        return 1
    print(f"walls: they stand, {len(debts)} debts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
