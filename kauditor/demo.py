"""The snapshot that comes with kauditor: recorded from the test control plane, names made up."""

from pathlib import Path

from kauditor.model.snapshot import Snapshot, decode

FILE = Path(__file__).resolve().parent / "data" / "demo-snapshot.json"


def demo_snapshot() -> Snapshot:
    """The recorded snapshot. ``make demo-snapshot`` records it again."""
    return decode(FILE.read_bytes())
