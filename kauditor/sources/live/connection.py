"""From flags and a kubeconfig to a cluster that answers.

Authentication, TLS and proxies are the official client's; nothing here reads a credential but to
hand it on.
"""

import logging
import os
from typing import Any

import msgspec

from kauditor.sources.live import kubeconfig as files
from kauditor.sources.live.kubeconfig import BadKubeconfig, Resolved
from kauditor.sources.live.source import ConnectError, LiveSource
from kauditor.sources.live.transport import Pace, Transport

__all__ = ["BadKubeconfig", "ConnectError", "ConnectOptions", "connect"]

log = logging.getLogger("kauditor")


class ConnectOptions(msgspec.Struct, frozen=True, kw_only=True):
    """kubectl's connection flags, and our own pacing. Times in seconds; null for no limit."""

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
    request_timeout: float | None = 65.0
    insecure_skip_tls_verify: bool = False
    certificate_authority: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    tls_server_name: str | None = None
    token: str | None = None
    disable_compression: bool = False
    timeout: float | None = None
    qps: float = 5.0
    burst: int = 10
    max_inflight: int = 2
    gentle: bool = False
    user_agent: str = "kauditor"

    def __repr__(self) -> str:
        # A token stands among the fields.
        return f"ConnectOptions(context={self.context!r}, server={self.server!r})"


def connect(options: ConnectOptions) -> LiveSource:
    """Open the cluster and prove by one request that it answers.

    Raises:
        BadKubeconfig: what the files or flags say can't be used.
        ConnectError: the server does not answer, or not to us.
    """
    found = files.find(
        kubeconfig=options.kubeconfig,
        context=options.context,
        cluster=options.cluster,
        user=options.user,
        namespace=options.namespace,
        server=options.server,
        environment=os.environ,
    )
    found = _with_flags(found, options)
    transport = Transport(
        lambda: _api_client(found),
        headers=_impersonation(found, options),
        user_agent=options.user_agent,
        pace=Pace(
            qps=options.qps / 2 if options.gentle else options.qps,
            burst=max(options.burst, 1),
            inflight=1 if options.gentle else max(options.max_inflight, 1),
        ),
        request_timeout=options.request_timeout,
        deadline=options.timeout,
        gzip=False,
    )
    source = LiveSource(transport, context=found.context, user=found.user_name)
    source.greet()
    return source


def _with_flags(found: Resolved, options: ConnectOptions) -> Resolved:
    """Flags outweigh the files. They go into the mapping that the client reads.

    Set on the client afterwards, they would be undone by its token refresh (client 37).
    """
    cluster, user = dict(found.cluster), dict(found.user)
    if options.certificate_authority:
        cluster.pop("certificate-authority-data", None)
        cluster["certificate-authority"] = os.path.abspath(options.certificate_authority)
    if options.insecure_skip_tls_verify:
        cluster["insecure-skip-tls-verify"] = True
        if not options.certificate_authority:
            cluster.pop("certificate-authority", None)
            cluster.pop("certificate-authority-data", None)
    if options.tls_server_name:
        cluster["tls-server-name"] = options.tls_server_name
    if cluster.get("insecure-skip-tls-verify") and (
        cluster.get("certificate-authority") or cluster.get("certificate-authority-data")
    ):
        raise BadKubeconfig(
            f"cluster {found.cluster_name!r} names a certificate authority and "
            "insecure-skip-tls-verify; remove one of them, as kubectl demands."
        )
    if options.client_certificate:
        user.pop("client-certificate-data", None)
        user["client-certificate"] = os.path.abspath(options.client_certificate)
    if options.client_key:
        user.pop("client-key-data", None)
        user["client-key"] = os.path.abspath(options.client_key)
    if options.token:
        for key in ("tokenFile", "exec", "auth-provider", "username", "password"):
            user.pop(key, None)
        user["token"] = options.token
    for holder, keys in (
        (cluster, ("certificate-authority",)),
        (user, ("client-certificate", "client-key", "tokenFile")),
    ):
        for key in keys:
            if holder.get(key) and not os.path.isfile(holder[key]):
                raise BadKubeconfig(f"{key} {holder[key]}: there is no such file.")
    return msgspec.structs.replace(found, cluster=cluster, user=user)


def _impersonation(found: Resolved, options: ConnectOptions) -> list[tuple[str, str]]:
    """Impersonation headers: the flags', else what the kubeconfig states for its user.

    The official client ignores the kubeconfig's, and would scan as somebody else.
    """
    user = found.user
    name = options.as_user or user.get("as")
    groups = options.as_groups or tuple(user.get("as-groups") or ())
    uid = options.as_uid or user.get("as-uid")
    extra = options.as_user_extra or user.get("as-user-extra") or {}
    if not name and (groups or uid or extra):
        raise BadKubeconfig("impersonating a group or UID needs a user too; give --as.")
    headers = [("Impersonate-User", str(name))] if name else []
    headers += [("Impersonate-Group", str(group)) for group in groups]
    if uid:
        headers.append(("Impersonate-Uid", str(uid)))
    for key, values in extra.items():
        headers += [(f"Impersonate-Extra-{key}", str(value)) for value in values]
    if any("\n" in value or "\r" in value for _, value in headers):
        raise BadKubeconfig("a name to impersonate holds a line break.")
    return headers


class _Complaints(logging.Handler):
    """Catches what the client logs instead of raising when a credential plugin fails."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line."""
        self.lines.append(record.getMessage().strip().split("\n")[0])


def _api_client(found: Resolved) -> Any:
    """The official client with its pool, its credentials loaded. Costs half a second of import."""
    from kubernetes import client, config

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "chosen",
        "contexts": [{"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{"name": "chosen", "cluster": found.cluster}],
        "users": [{"name": "chosen", "user": found.user}],
    }
    configuration = client.Configuration()
    complaints = _Complaints()
    root = logging.getLogger()
    root.addHandler(complaints)
    try:
        config.load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            document, client_configuration=configuration, persist_config=False
        )
    except Exception as error:
        raise BadKubeconfig(
            f"the credentials of user {found.user_name!r} can't be used: "
            f"{type(error).__name__}; check the kubeconfig."
        ) from None
    finally:
        root.removeHandler(complaints)
    if found.user.get("exec") and not (configuration.api_key or configuration.cert_file):
        why = f": {complaints.lines[-1][:200]}" if complaints.lines else ""
        raise BadKubeconfig(
            f"the credential plugin {found.user['exec'].get('command')!r} of user "
            f"{found.user_name!r} gave no credentials{why}; run it by hand."
        )
    return client.ApiClient(configuration)
