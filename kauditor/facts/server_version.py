"""Which Kubernetes the API server says it is."""

import re

import msgspec

from kauditor.model.fact import Fact, Unknown, Why, tallies
from kauditor.model.source import Grant, Page


class ServerVersion(Fact, frozen=True, kw_only=True):
    """``git_version`` as the server writes it ("v1.34.2-eks-1a2b3c"), and its numbers."""

    git_version: str
    major: int
    minor: int


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


@tallies(ServerVersion, Page("/version", Grant(verbs=("get",), path="/version")))
class VersionTally:
    """Reads /version."""

    def __init__(self) -> None:
        self.body = b""

    def add(self, body: bytes) -> None:
        """Take the document."""
        self.body = body

    def total(self) -> ServerVersion | Unknown:
        """The version; unknown where the answer is not one."""
        try:
            text = msgspec.json.decode(self.body, type=_Version).git_version
        except msgspec.DecodeError:
            text = ""
        match = re.match(r"v(\d+)\.(\d+)", text)
        if not match:
            return Unknown(
                why=Why.UNREACHABLE,
                detail="/version did not answer with a Kubernetes version.",
                lift="Check that the server address is that of a Kubernetes API server.",
            )
        return ServerVersion(git_version=text, major=int(match.group(1)), minor=int(match.group(2)))
