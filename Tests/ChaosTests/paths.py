"""Makes the helpers of the other tests importable for programs that are started by hand."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for _directory in (ROOT / "Tests/EndToEndTests", ROOT / "Tests", ROOT / "Tests/ChaosTests"):
    if str(_directory) not in sys.path:
        sys.path.insert(0, str(_directory))
