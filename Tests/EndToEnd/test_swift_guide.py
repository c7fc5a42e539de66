"""The guide of the Swift library: it is made without a warning, and its samples and Examples/Shop have right types.

`scripts/client-docs.sh` makes the library as Apple's systems see it, with a stand-in for SwiftUI (Tests/ClientStubs).
The samples' types are checked against that.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from Fixtures.samples import sample

# One process makes the guide for all of them.
pytestmark = pytest.mark.xdist_group("swift-guide")
ROOT = Path(__file__).resolve().parents[2]
ARTICLES = sorted((ROOT / "Sources/SwitchboardClient/SwitchboardClient.docc").glob("*.md"))
SHOP = ROOT / "Examples/Shop/Sources/Shop"
# Changes of Examples/Shop that misuse the library, each with a part of the compiler's reason.
WRONG = [
    ("ShopApp.swift", "await room.run()", "await room.begin()", "no member 'begin'"),
    ("ShopApp.swift", "room.content.queue", "room.content.tracks", "no member 'tracks'"),
    ("ShopApp.swift", "TopicModel(client, ", "TopicModel(", "missing argument for parameter #2"),
    ("ShopApp.swift", ".pausesInBackground(client)", ".pausesInBackground()", "missing argument for parameter #1"),
    ("ShopApp.swift", "failure = error", "failure = error.message", "cannot assign value of type 'String'"),
    ("Room.swift", "case .ended: self = Room()", "", "switch must be exhaustive"),
    ("Room.swift", "init?(_ event: TopicEvent)", "init?(_ event: String)", "does not conform to protocol"),
]
# Types of an app whose names are common. Each is used beside the library's in one file.
COMMON_NAMES = ("Status", "Position", "Gap", "Member", "Event", "Topic", "Session", "State", "Message", "Update",
                "Reason", "Options", "Command", "Call", "Model", "Entry", "Result_", "Close", "Phase", "Content")


def compiler():
    return shutil.which("swiftc") or pytest.fail("no swiftc on PATH")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The guide, the symbols and the modules; a warning of the compiler or of DocC is a failure."""
    folder = tmp_path_factory.mktemp("guide")
    done = subprocess.run([ROOT / "scripts/client-docs.sh", folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder


@pytest.fixture
def faults(made):
    """Checks the types of files as a program, and returns what the compiler says."""
    def faults(*files, library=True):
        options = ["-swift-version", "6", "-warnings-as-errors", "-I", made / "modules"]
        options += ["-parse-as-library"] if library else []
        return subprocess.run([compiler(), "-typecheck", *options, *files], capture_output=True, text=True,
                              timeout=120).stderr
    return faults


def test_the_guide_is_made_without_a_warning(made):
    pages = {path.stem for path in (made / "guide/data/documentation/switchboardclient").glob("*.json")}
    assert {article.stem.lower() for article in ARTICLES} - {"switchboardclient"} <= pages
    assert {"topicmodel", "switchboarderror", "typedupdates", "connectionview", "urlsessiontransport"} <= pages


def test_every_public_symbol_has_its_comment(made):
    symbols = [symbol for path in (made / "symbols").glob("*.json")
               for symbol in json.loads(path.read_text())["symbols"] if "location" in symbol]
    assert len(symbols) > 200
    assert ["/".join(one["pathComponents"]) for one in symbols if "docComment" not in one] == []


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.stem)
def test_the_samples_of_an_article_are_one_program(article, faults, tmp_path):
    """Linux has `URLSession` in a module of its own; an app imports Foundation alone."""
    samples = re.findall(r"^```swift\n(.*?)^```", article.read_text(), re.S | re.M)
    assert samples
    program = tmp_path / "main.swift"
    program.write_text("import FoundationNetworking\n" + "\n".join(samples))
    assert faults(program, library=False) == ""


def test_the_package_of_the_guide_finds_the_library(tmp_path):
    """The guide showed two lines of a manifest, and no page said what SwiftPM calls a clone: the name of its folder."""
    (tmp_path / "switchboard").symlink_to(ROOT)
    program = tmp_path / "app/Sources/App/main.swift"
    program.parent.mkdir(parents=True)
    program.write_text("")
    article = ARTICLES[0].parent.relative_to(ROOT) / "GettingStarted.md"
    (tmp_path / "app/Package.swift").write_text(sample(f"{article}#add-the-package:text"))
    done = subprocess.run([shutil.which("swift") or pytest.fail("no swift on PATH"), "package", "--package-path",
                           tmp_path / "app", "describe", "--type", "json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    [target] = json.loads(done.stdout)["targets"]
    assert target["product_dependencies"] == ["SwitchboardClient", "SwitchboardClientLinux"]


def test_the_app_of_the_phone_has_right_types(faults, tmp_path):
    """The page said to connect the library, and had no line of it."""
    program = tmp_path / "RoomApp.swift"
    program.write_text(sample("docs/build/phone.md#the-app:swift"))
    assert faults(program) == ""


def test_the_example_for_apple_systems_has_right_types(faults):
    assert faults(*SHOP.glob("*.swift")) == ""


@pytest.mark.parametrize("name, right, wrong, reason", WRONG, ids=lambda value: str(value)[:24])
def test_a_mistake_in_the_example_is_found(name, right, wrong, reason, faults, tmp_path):
    for path in SHOP.glob("*.swift"):
        text = path.read_text()
        if path.name == name:
            assert right in text
            text = text.replace(right, wrong, 1)
        (tmp_path / path.name).write_text(text)
    assert reason in faults(*tmp_path.glob("*.swift"))


def test_an_app_may_have_types_of_common_names(faults, tmp_path):
    """The library's `Status` and an app's could not be told apart, because module and class have one name."""
    own = "".join(f"struct {name} {{ var own = 1 }}\n" for name in COMMON_NAMES)
    uses = "".join(f"    _ = {name}().own\n" for name in COMMON_NAMES)
    program = tmp_path / "App.swift"
    program.write_text("import Foundation\nimport SwitchboardClient\n" + own + f"""
        func app(_ client: SwitchboardClient) async throws {{
        {uses}
            let status: ConnectionStatus = client.currentStatus
            let options: SwitchboardClient.CallOptions = .kept()
            let position: TopicPosition? = try await client.publish("line", [1], to: "a:b", options: options)
            print(status, position as Any)
        }}
        """)
    assert faults(program) == ""
