"""How gently a scan asks: requests in flight, requests a second, and the end of its time.

Two full pages at once already take two thirds of the seats that an ordinary user has on an API
server with default priority levels, and an administrator's certificate is exempt from those: there
the brake of the client is the only one.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kauditor.model.source import Deadline

# client-go's defaults are 5 requests a second and 10 at once; a page takes longer, so it may have
# twice the pace in each lane.
PAGES_PER_REQUEST = 2.0
MOST_IN_FLIGHT = 4


class Pace:
    """Shared by all threads of a scan. ``qps`` 0 turns pacing off, but not the lanes."""

    def __init__(
        self,
        *,
        qps: float = 5.0,
        burst: int = 10,
        max_inflight: int = 2,
        gentle: bool = False,
        timeout: float | None = None,
    ) -> None:
        """``timeout``: seconds that the whole scan may take from now on, null for no end."""
        self._qps = max(qps / 2 if gentle else qps, 0.0)
        self._burst = float(max(burst, 1))
        self._lanes = 1 if gentle else max(1, min(max_inflight, MOST_IN_FLIGHT))
        self._busy = 0
        self._free = threading.Condition()
        self._lock = threading.Lock()
        self._tokens = self._burst
        self._filled = time.monotonic()
        self._next_page: dict[int, float] = {}
        self._end = None if timeout is None else time.monotonic() + timeout
        self.waited_seconds = 0.0

    @property
    def end(self) -> float | None:
        """When the time of the scan is over, in monotonic seconds; null for never."""
        return self._end

    @property
    def lanes(self) -> int:
        """How many requests may be in flight now."""
        return self._lanes

    def check(self) -> None:
        """Raises `Deadline` when the time of the scan is over."""
        if self._end is not None and time.monotonic() >= self._end:
            raise Deadline

    def narrow(self) -> None:
        """Half the lanes, for the rest of the scan: the server says that it is too much."""
        with self._free:
            self._lanes = max(1, self._lanes // 2)

    @contextmanager
    def lane(self) -> Iterator[None]:
        """Hold one of the requests in flight.

        Raises:
            Deadline: the time of the scan is over.
        """
        with self._free:
            while self._busy >= self._lanes:
                self.check()
                self._free.wait(0.2)
            self._busy += 1
        try:
            yield
        finally:
            with self._free:
                self._busy -= 1
                self._free.notify()

    def turn(self) -> None:
        """Wait until one more request, other than a page, may be sent."""
        with self._lock:
            if not self._qps:
                return
            now = time.monotonic()
            self._tokens = min(self._burst, self._tokens + (now - self._filled) * self._qps)
            self._filled = now
            # Below zero is a place in the queue.
            self._tokens -= 1
            wait = max(0.0, -self._tokens / self._qps)
        self.wait(wait)

    def page_turn(self, lane: int) -> None:
        """Wait until the next page may be asked for by the lane of this number."""
        with self._lock:
            if not self._qps:
                return
            now = time.monotonic()
            begin = max(now, self._next_page.get(lane, 0.0))
            self._next_page[lane] = begin + 1 / (PAGES_PER_REQUEST * self._qps)
        self.wait(begin - now)

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the scan.

        Raises:
            Deadline: the time of the scan is over.
        """
        self.check()
        if seconds <= 0:
            return
        left = seconds if self._end is None else min(seconds, self._end - time.monotonic())
        time.sleep(max(left, 0.0))
        with self._lock:
            self.waited_seconds += max(left, 0.0)
        self.check()
