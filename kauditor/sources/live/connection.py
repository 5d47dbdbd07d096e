"""From flags and a kubeconfig to a cluster that answers.

The official client logs in, speaks TLS and finds proxies; what it leaves out (impersonation, the
merge of several files, failing logins) is made up for here, so that a scan never reads as somebody
else without saying so.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kauditor import __version__
from kauditor.model.clean import clean
from kauditor.model.source import Deadline, Refusal, Where
from kauditor.sources.live import kubeconfig as files
from kauditor.sources.live.client import Client, LoginFailed
from kauditor.sources.live.kubeconfig import BadKubeconfig, Chosen, Overrides
from kauditor.sources.live.ledger import Ledger
from kauditor.sources.live.pacing import Pace
from kauditor.sources.live.source import LiveSource
from kauditor.sources.live.transport import REQUEST_SECONDS, Answer, NoAnswer, Transport

__all__ = [
    "BadKubeconfig",
    "ConnectError",
    "ConnectOptions",
    "LiveSource",
    "Unreachable",
    "connect",
]


class ConnectError(Exception):
    """The cluster can't be read at all: one sentence that names server, reason and remedy."""


class Unreachable(ConnectError):
    """No answer, a TLS failure, or a login that is refused."""


class ConnectOptions(msgspec.Struct, frozen=True, kw_only=True):
    """kubectl's connection flags under kubectl's names, and how gently to ask.

    Times are in seconds, null for no limit: ``request_timeout`` for one answer, ``timeout`` for the
    whole scan, counted from `connect` on. ``qps`` 0 turns pacing off. Of ``max_inflight`` no more
    than 4 are used.
    """

    kubeconfig: str | None = None
    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None
    server: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    as_uid: str | None = None
    as_user_extra: dict[str, tuple[str, ...]] = {}
    request_timeout: float | None = REQUEST_SECONDS
    insecure_skip_tls_verify: bool = False
    certificate_authority: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    tls_server_name: str | None = None
    token: str | None = None
    disable_compression: bool = False
    qps: float = 5.0
    burst: int = 10
    max_inflight: int = 2
    gentle: bool = False
    timeout: float | None = None
    user_agent: str = f"kauditor/{__version__}"

    @property
    def overrides(self) -> Overrides:
        """Those that take the place of values in the kubeconfig."""
        names = Overrides.__struct_fields__
        return Overrides(**{name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        return f"ConnectOptions(context={self.context!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("context", self.context)]


def connect(
    options: ConnectOptions, *, progress: Callable[[str], None] | None = None
) -> LiveSource:
    """Log in, and prove by one request that the server answers.

    ``progress`` is told in words what takes time: a login program, for one.

    Raises:
        BadKubeconfig: the kubeconfig, or a flag over it, can't be used.
        ConnectError: the server does not answer, or does not let us in.
    """
    chosen = files.choose(files.load(options.kubeconfig), options.overrides)
    pace = Pace(
        qps=options.qps,
        burst=options.burst,
        max_inflight=options.max_inflight,
        gentle=options.gentle,
        timeout=options.timeout,
    )
    ledger = Ledger()
    if chosen.in_cluster:
        ledger.note(
            "There is no kubeconfig: the cluster was read as the pod that kauditor runs in."
        )
    try:
        client = Client(chosen, connections=pace.lanes + 1, say=progress)
    except LoginFailed as error:
        raise Unreachable(str(error)) from None
    transport = Transport(
        client,
        pace,
        ledger,
        user_agent=options.user_agent,
        request_timeout=options.request_timeout,
        compress=not (chosen.cluster.disable_compression or client.near),
    )
    answer = _proof(transport, client.server, chosen)
    where = Where(
        name=chosen.cluster_name or chosen.context,
        context=chosen.context,
        server=client.server,
        identity=chosen.user.as_user or chosen.user_name,
    )
    version = answer.body if answer.status == 200 else b""
    ledger.settle("/version", "complete" if version else "forbidden")
    return LiveSource(transport, pace, ledger, where, version)


def _proof(transport: Transport, server: str, chosen: Chosen) -> Answer:
    """The answer to ``/version``.

    A refusal (403) proves the connection too: some clusters close it to most.
    """
    place = f"{server} (context {chosen.context!r})" if chosen.context else server
    try:
        answer = transport.get("/version", kind="/version", patient=False)
    except NoAnswer as error:
        raise Unreachable(f"can't reach {place}: {error.words}; {_remedy(error.kind)}") from None
    except Refusal as refusal:
        if refusal.why == "forbidden":
            raise Unreachable(f"{place} refused the login (401): {refusal.detail}") from None
        raise Unreachable(f"can't scan {place}: {refusal.detail} {refusal.lift}") from None
    except Deadline:
        raise Unreachable(
            f"can't reach {place}: the time for the whole scan was over before it answered; "
            "give more with --timeout."
        ) from None
    if answer.status == 401:
        raise Unreachable(
            f"{place} refused the login of user {chosen.user_name!r} (401); "
            "log in again, or check the credential of this context."
        )
    if answer.status == 200:
        _check_version(answer, place)
    elif answer.status != 403:
        raise Unreachable(
            f"{place} answered /version with {answer.status}; "
            "check that this is the address of a Kubernetes API server."
        )
    return answer


class _Version(msgspec.Struct, frozen=True, rename="camel"):
    git_version: str = ""


def _check_version(answer: Answer, place: str) -> None:
    try:
        version = msgspec.json.decode(answer.body, type=_Version).git_version
    except (msgspec.DecodeError, UnicodeDecodeError):
        version = ""
    if not version:
        kind = f" ({clean(answer.media_type, 60)})" if answer.media_type else ""
        raise Unreachable(
            f"{place} does not answer like a Kubernetes API server{kind}; "
            "check the address, and look for a proxy or a login page in between."
        )


def _remedy(kind: str) -> str:
    return {
        "dns": "check the address and your network or VPN.",
        "refused": "check the address and port, and that the server is up.",
        "unreachable": "check your network or VPN.",
        "slow-connect": "check the address and your network or VPN.",
        "slow-answer": "check that the server is well, or give more time with --request-timeout.",
        "tls": "check certificate-authority, tls-server-name and client certificate of the context.",
        "proxy": "check proxy-url, HTTPS_PROXY and NO_PROXY.",
    }.get(kind, "check that this is the address of a Kubernetes API server, and try again.")
