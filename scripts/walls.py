#!/usr/bin/env python3
"""Checks that targets and folders use only what lies below them (CONTRIBUTING.md, "Where a change goes").

usage: scripts/walls.py [STORE] [--self-test]
  STORE        the index of a debug build, e.g. .build/debug/index/store; without it, targets alone are checked
  --self-test  breaks walls on purpose, in memory, and fails unless each breach is seen

Targets: SwiftPM forbids circles, but lets a file import what the package does not declare, as long as it happens to be
built. So each import of a file must be declared for its target in Package.swift, and each declared dependency be used.
So no room below the gateway can name its shards or its node.

Folders: the compiler writes into the index which declaration each name in the code stands for, a member as well as a
type. A folder below may use the declarations of the folders after its colon and those of other targets, and no others;
`.` is the files beside the folders. The requirement of a protocol belongs to the folder that declares the protocol.

Each offence is printed as FILE:LINE: what it uses.
exit: 0 when all walls stand, 1 when one does not, 2 when the index cannot be read
"""

import collections
import ctypes
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "Sources"

# Folders with a wall, and the folders of the same target that they may use.
WALLS = {
    "Dialects/Emitter": [".", "SocketIO"],
    "Dialects/Native": ["."],
    "Dialects/EventStream": [".", "Native"],
    "Dialects/Phoenix": [".", "Native"],
    "Dialects/SocketIO": [".", "Native", "EventStream"],
    "Gateway/Rights": [],
    "HTTPSurface/Routes": ["."],
    "Sessions/State": [],
    "Top/Frame": [],
    "Topics/Deliveries": [],
    "Transports/Polling": [".", "Relay"],
    "Transports/Relay": ["Polling"],
}
# An index of fewer files is one of another build, or of another format.
FILES_MIN = 400
# Modules of the toolchain and of the system.
GIVEN = {"Swift", "Glibc", "Synchronization", "Foundation", "FoundationNetworking", "Observation", "Darwin", "Musl",
         "Network", "Security", "CryptoKit", "SwiftUI"}

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


def place(path: str) -> tuple[str, str]:
    """The target of a source file, and its folder there."""
    parts = pathlib.Path(path).relative_to(SOURCES).parts
    return parts[0], parts[1] if len(parts) > 2 else "."


# MARK: Targets

def declared() -> dict[str, set[str]]:
    """The dependencies of each target in Sources, as Package.swift declares them."""
    text = re.sub(r"//.*", "", (ROOT / "Package.swift").read_text())
    found = {}
    rooms = re.finditer(r'\broom\(\s*"([\w-]+)"\s*(?:,\s*\[([^\]]*)\])?', text)
    targets = re.finditer(
        r'\.(?:executableT|t)arget\(\s*name: "([\w-]+)"\s*(?:,\s*dependencies:\s*\[([^\]]*)\])?', text)
    for match in [*rooms, *targets]:
        found[match[1]] = set(re.findall(r'"([\w-]+)"', match[2] or ""))
    return {name: needs for name, needs in found.items() if (SOURCES / name).is_dir()}


def imports(files: dict[pathlib.Path, str], needs: dict[str, set[str]]) -> list[str]:
    """The imports that are not declared, and the dependencies that no file imports."""
    offences, used = [], collections.defaultdict(set)
    for path, text in files.items():
        target = place(str(path))[0]
        name = path.relative_to(ROOT)
        for number, line in enumerate(text.splitlines(), 1):
            if match := re.match(r"(?:@testable |public |internal )*import (?:struct |class |enum |func )?(\w+)", line):
                used[target].add(match[1])
                if match[1] not in needs[target] | GIVEN:
                    offences.append(f"{name}:{number}: {match[1]}, which Package.swift does not give {target}")
    for target, wanted in sorted(needs.items()):
        for unused in sorted(wanted - used[target]):
            if any(place(str(path))[0] == target for path in files):
                offences.append(f"Package.swift: {target} never imports {unused}")
    return offences


def sources(needs: dict[str, set[str]]) -> dict[pathlib.Path, str]:
    return {path: path.read_text() for target in needs for path in sorted((SOURCES / target).rglob("*.swift"))}


# MARK: Folders

def uses(store: str, walls: dict[str, list[str]]) -> list[str]:
    """The uses across folders that break the walls."""
    index = Index(store)
    # A file that no longer exists may still be in the index.
    records = {path: record for path, record in filter(None, map(index.record, index.units()))
               if path.startswith(f"{SOURCES}/") and pathlib.Path(path).exists()}
    if len(records) < FILES_MIN:
        raise OSError(f"{store} knows {len(records)} files of the sources")
    files = {path: index.occurrences(record) for path, record in records.items()}
    homes = {usr: place(path) for path, found in files.items() for roles, usr, _, _ in found if roles & DEFINITION}
    broken = {}
    for path, found in sorted(files.items()):
        target, folder = place(path)
        allowed = walls.get(f"{target}/{folder}")
        for roles, usr, name, line in found if allowed is not None else []:
            home = homes.get(usr)
            if roles & REFERENCE and home and home[0] == target and home[1] not in [folder, *allowed]:
                broken[f"{pathlib.Path(path).relative_to(ROOT)}:{line}: {name.split('(')[0]} of {target}/{home[1]}"] = 0
    return list(broken)


def self_test(store: str | None) -> list[str]:
    """Each breach that was not seen."""
    needs, unseen = declared(), []
    route = SOURCES / "HTTPSurface/Routes/TopicRoute.swift"
    text = route.read_text()
    for breach, what in [("import Presence\n" + text, "a route that reads presence by its store"),
                         ("import Gateway\n" + text, "a route that names the shard")]:
        if not [offence for offence in imports({route: breach}, needs) if "TopicRoute" in offence]:
            unseen.append(what)
    if not imports(sources(needs), {**needs, "Topics": needs["Topics"] | {"Calls"}}):
        unseen.append("a dependency that is declared and not used")
    if store and not uses(store, {"Sessions/.": []}):
        unseen.append("a member of another folder")
    return [f"the walls do not see {what}" for what in unseen]


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--self-test"]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    store = arguments[0] if arguments else None
    try:
        needs = declared()
        missing = [wall for wall in WALLS if not (SOURCES / wall).is_dir()]
        offences = [f"{wall} is no folder of the sources" for wall in missing] + imports(sources(needs), needs)
        if store:
            offences += uses(store, WALLS)
        if "--self-test" in sys.argv:
            offences += self_test(store)
    except OSError as error:
        print(f"walls: {error}", file=sys.stderr)
        return 2
    for offence in offences:
        print(f"walls: {offence}")
    if not offences:
        print(f"walls: they stand, {len(needs)} targets" + (f", {len(WALLS)} folders" if store else ""))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
