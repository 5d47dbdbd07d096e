"""What a scan costs the cluster, counted as it goes."""

import sys
import threading
import time

from kauditor.model.source import Cost, KindCost

# From best to worst: one kind may be read in several ways, and the worst is told.
OUTCOMES = ("complete", "absent", "inconsistent", "forbidden", "throttled", "partial")


class _Kind:
    def __init__(self) -> None:
        self.outcome = ""
        self.detail = ""
        self.objects = 0
        self.requests = 0
        self.bytes = 0


class Ledger:
    """Safe to be written from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: dict[str, _Kind] = {}
        self._notes: dict[str, None] = {}
        self._began: float | None = None
        self._ended = 0.0
        self._requests = 0
        self._bytes = 0
        self._throttled = 0
        self._priority_level = ""

    def asked(self, kind: str) -> None:
        """One request is sent."""
        with self._lock:
            now = time.monotonic()
            self._began = now if self._began is None else self._began
            self._ended = now
            self._requests += 1
            if kind:
                self._kinds.setdefault(kind, _Kind()).requests += 1

    def answered(self, kind: str, wire_bytes: int, priority_level: str) -> None:
        """Its answer has come, or as much of it as will."""
        with self._lock:
            self._ended = time.monotonic()
            self._bytes += wire_bytes
            self._priority_level = priority_level or self._priority_level
            if kind:
                self._kinds.setdefault(kind, _Kind()).bytes += wire_bytes

    def throttled(self) -> None:
        """The server said that it is too much."""
        with self._lock:
            self._throttled += 1

    def settle(self, kind: str, outcome: str, detail: str = "", objects: int = 0) -> None:
        """How far the reading of one kind got."""
        assert outcome in OUTCOMES
        with self._lock:
            entry = self._kinds.setdefault(kind, _Kind())
            entry.objects = max(entry.objects, objects)
            if not entry.outcome or OUTCOMES.index(outcome) > OUTCOMES.index(entry.outcome):
                entry.outcome, entry.detail = outcome, detail

    def note(self, sentence: str) -> None:
        """Keep a sentence about the reading; twice the same is once."""
        with self._lock:
            self._notes[sentence] = None

    def notes(self) -> list[str]:
        """The sentences, in order."""
        with self._lock:
            return list(self._notes)

    def cost(self, waited_seconds: float) -> Cost:
        """All of it. ``seconds`` run from the first request to the last answer."""
        with self._lock:
            return Cost(
                requests=self._requests,
                bytes=self._bytes,
                seconds=0.0 if self._began is None else round(self._ended - self._began, 3),
                waited_seconds=round(waited_seconds, 3),
                throttled=self._throttled,
                peak_memory_bytes=peak_memory_bytes(),
                priority_level=self._priority_level,
                kinds=tuple(
                    KindCost(
                        kind=kind,
                        # Asked for, and neither finished nor refused: the scan ended in between.
                        outcome=entry.outcome or "partial",
                        objects=entry.objects,
                        requests=entry.requests,
                        bytes=entry.bytes,
                        detail=entry.detail,
                    )
                    for kind, entry in sorted(self._kinds.items())
                ),
            )


def peak_memory_bytes() -> int:
    """The most memory this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024
