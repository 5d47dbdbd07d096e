"""What a stream can show: colour, width, letters. Decided here once, by our own rules."""

import os
import shutil
from collections.abc import Mapping
from typing import IO

PIPE_WIDTH = 100
NARROWEST = 60
COLORS = ("auto", "always", "never")


def wants_color(stream: IO[str], flag: str, environment: Mapping[str, str] = os.environ) -> bool:
    """--color, then KAUDITOR_COLOR, NO_COLOR, FORCE_COLOR, TERM=dumb, then whether it is a TTY."""
    for choice in (flag, environment.get("KAUDITOR_COLOR", "")):
        if choice == "always":
            return True
        if choice == "never":
            return False
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def width_of(stream: IO[str], environment: Mapping[str, str] = os.environ) -> int:
    """Columns of the terminal; 100 where it is none."""
    if environment.get("COLUMNS", "").isdigit():
        return max(int(environment["COLUMNS"]), NARROWEST)
    if not stream.isatty():
        return PIPE_WIDTH
    return max(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, NARROWEST)


def needs_ascii(stream: IO[str]) -> bool:
    """True where the stream's encoding can't show block characters."""
    try:
        "█▒·│░▸→".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def printable(text: str, stream: IO[str]) -> str:
    """The text with a stand-in for what the stream's encoding can't show."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
