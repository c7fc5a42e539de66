"""Lets programs that are started by hand import the fixtures; pytest has a setting for that."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests"))
