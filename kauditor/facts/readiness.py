"""What the API server's own readiness checks say."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Grant, Page

PAGE = Page("/readyz?verbose", Grant(verbs=("get",), path="/readyz"), optional_codes=(500,))


class Readiness(Fact, frozen=True, kw_only=True):
    """Names of readiness checks that passed and that failed."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]


@tallies(Readiness, PAGE)
class ReadinessTally:
    """Reads /readyz?verbose, a line a check: ``[+]etcd ok`` or ``[-]etcd failed: …``."""

    def __init__(self) -> None:
        self.body = b""

    def add(self, body: bytes) -> None:
        """Take the document."""
        self.body = body

    def total(self) -> Readiness:
        """The checks."""
        lines = self.body.decode("utf-8", "replace").splitlines()
        return Readiness(
            passed=tuple(line[3:].split()[0] for line in lines if line.startswith("[+]")),
            failed=tuple(line[3:].split()[0] for line in lines if line.startswith("[-]")),
        )
