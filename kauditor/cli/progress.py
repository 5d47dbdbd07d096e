"""Progress on stderr: a live line on a terminal, one plain line a phase elsewhere."""

import threading
import time
from typing import IO


class PlainProgress:
    """One line when the reading begins and one when it ends: for CI logs."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.kinds = 0
        self.objects = 0
        self.problems = 0

    def started(self, what: str) -> None:
        """First kind: say that reading begins."""
        with self.lock:
            if not self.kinds:
                print("reading the cluster", file=self.stream, flush=True)
            self.kinds += 1

    def advanced(self, what: str, objects: int) -> None:
        """Nothing: a log is no place for moving numbers."""

    def finished(self, what: str, objects: int, problem: str) -> None:
        """Add up."""
        with self.lock:
            self.objects += objects
            self.problems += bool(problem)

    def close(self) -> None:
        """Say what was read."""
        seconds = time.monotonic() - self.began
        missed = f", {self.problems} not read" if self.problems else ""
        print(
            f"read {self.kinds} sources, {self.objects:,} objects in {seconds:.1f} s{missed}",
            file=self.stream,
            flush=True,
        )


class LiveProgress(PlainProgress):
    """One line that is rewritten: what is read, how much of it, how fast."""

    def __init__(self, stream: IO[str], color: bool) -> None:
        super().__init__(stream)
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(file=stream, no_color=not color, highlight=False, markup=False)
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self.tasks: dict[str, object] = {}
        self.bar.start()

    def started(self, what: str) -> None:
        """Show the kind."""
        with self.lock:
            self.kinds += 1
            self.tasks[what] = self.bar.add_task(what, detail="", total=None)

    def advanced(self, what: str, objects: int) -> None:
        """Show how many, and how fast."""
        with self.lock:
            rate = objects / max(time.monotonic() - self.began, 0.001)
            self.bar.update(self.tasks[what], detail=f"{objects:,} objects, {rate:,.0f}/s")  # type: ignore[arg-type]

    def finished(self, what: str, objects: int, problem: str) -> None:
        """Take the line away."""
        super().finished(what, objects, problem)
        with self.lock:
            self.bar.remove_task(self.tasks[what])  # type: ignore[arg-type]

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.bar.stop()
