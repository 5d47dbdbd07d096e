"""Exit statuses, and the one place where an exception becomes a sentence."""

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

OK = 0
GATE_FAILED = 1
USAGE = 2
NOT_SCANNED = 3
UNDECIDED = 4
BUG = 5
INTERRUPTED = 130
# What outweighs what when several things are true of one run.
PRECEDENCE = (INTERRUPTED, BUG, NOT_SCANNED, USAGE, GATE_FAILED, UNDECIDED, OK)

P = ParamSpec("P")


class Sentence(Exception):
    """Something the user can mend: one sentence and an exit status."""

    def __init__(self, text: str, status: int = USAGE) -> None:
        super().__init__(text)
        self.status = status


def foremost(*statuses: int) -> int:
    """Of all that is true of a run, the status that says the most."""
    return min(statuses, key=PRECEDENCE.index, default=OK)


def exits(command: Callable[P, int | None]) -> Callable[P, None]:
    """Make a command's return value its exit status, and its exceptions sentences on stderr."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs) or OK
            sys.stdout.flush()
        except typer.Exit:
            raise
        except Sentence as sentence:
            _say(str(sentence))
            status = sentence.status
        except KeyboardInterrupt:
            _say("interrupted.")
            # Requests may still be in flight in other threads; nobody waits for them.
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader went away (head, less): its choice, and no error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = OK
        except Exception as error:
            _report_bug(error)
            status = BUG
        raise typer.Exit(status)

    return run


def _say(text: str) -> None:
    print(f"kauditor: {text}", file=sys.stderr)


def _report_bug(error: Exception) -> None:
    import traceback

    place = traceback.extract_tb(error.__traceback__)[-1]
    _say(
        f"this is a bug in kauditor: {type(error).__name__}: {error} "
        f"({os.path.basename(place.filename)}:{place.lineno}). "
        "Please report it with the command you ran; -vv shows the whole trace."
    )
    if "-vv" in sys.argv:
        traceback.print_exception(error)
