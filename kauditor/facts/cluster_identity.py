"""Which cluster this is: the UID of its kube-system namespace, by the field's convention."""

import msgspec

from kauditor.model.fact import Fact, Unknown, Why, tallies
from kauditor.model.source import Grant, Page
from kauditor.objects.meta import Meta

PAGE = Page("/api/v1/namespaces/kube-system", Grant(verbs=("get",), resource="namespaces"))


class ClusterIdentity(Fact, frozen=True, kw_only=True):
    """``uid`` stays the same for the life of a cluster."""

    uid: str


class _Namespace(msgspec.Struct):
    metadata: Meta = Meta()


@tallies(ClusterIdentity, PAGE)
class IdentityTally:
    """Reads the kube-system namespace."""

    def __init__(self) -> None:
        self.body = b""

    def add(self, body: bytes) -> None:
        """Take the document."""
        self.body = body

    def total(self) -> ClusterIdentity | Unknown:
        """The identity."""
        try:
            uid = msgspec.json.decode(self.body, type=_Namespace).metadata.uid
        except msgspec.DecodeError:
            uid = ""
        if not uid:
            return Unknown(
                why=Why.UNREACHABLE, detail="The kube-system namespace answered without a UID."
            )
        return ClusterIdentity(uid=uid)
