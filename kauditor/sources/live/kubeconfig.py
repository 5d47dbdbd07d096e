"""Kubeconfig files, merged and chosen from as kubectl does it.

The rules are those of client-go's ``clientcmd`` package: ``--kubeconfig`` is the only file when it
is given; else the files of ``KUBECONFIG``; else ``~/.kube/config``; else, in a pod, its service
account. The first file that sets a value wins, and relative paths are relative to their own file.
Nothing is ever written back.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class BadKubeconfig(Exception):
    """The kubeconfig, or a flag that overrides it, can't be used: one sentence on what to mend."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster of a kubeconfig. Paths are absolute; "" stands for what is not set."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[dict[str, Any], ...] = ()

    def __repr__(self) -> str:
        # A proxy's address can hold a password.
        return f"Cluster(server={without_login(self.server)!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("server", without_login(self.server))]


class User(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in, and whom to be then. Never shown: ``repr`` names the kinds of login only."""

    token: str = ""
    token_file: str = ""
    username: str = ""
    password: str = ""
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: dict[str, Any] | None = None
    auth_provider: dict[str, Any] | None = None
    as_user: str = ""
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = {}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways to log in that are set: ``("token", "exec")``."""
        found = (
            ("token", self.token),
            ("tokenFile", self.token_file),
            ("username", self.username),
            ("client-certificate", self.client_certificate or self.client_certificate_data),
            ("exec", self.exec),
            ("auth-provider", self.auth_provider),
        )
        return tuple(name for name, value in found if value)

    @property
    def impersonates(self) -> bool:
        """True when requests are to be made as somebody else."""
        return bool(self.as_user or self.as_uid or self.as_groups or self.as_user_extra)

    def __repr__(self) -> str:
        return f"User({', '.join(self.kinds)})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("kinds", self.kinds)]


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster, a user and a namespace, by name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class Kubeconfig(msgspec.Struct, frozen=True, kw_only=True):
    """All files merged. ``files`` are those that were read, in order."""

    files: tuple[str, ...] = ()
    current_context: str = ""
    clusters: dict[str, Cluster] = {}
    users: dict[str, User] = {}
    contexts: dict[str, Context] = {}


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The one cluster and user that a scan goes to, after all flags."""

    context: str
    cluster_name: str
    user_name: str
    namespace: str
    cluster: Cluster
    user: User
    in_cluster: bool = False


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """Flags that take the place of values in the kubeconfig; None or empty means not given."""

    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None
    server: str | None = None
    certificate_authority: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    disable_compression: bool = False
    client_certificate: str | None = None
    client_key: str | None = None
    token: str | None = None
    as_user: str | None = None
    as_uid: str | None = None
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"Overrides(context={self.context!r}, server={without_login(self.server or '')!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("context", self.context), ("server", without_login(self.server or ""))]


def load(
    kubeconfig: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Kubeconfig:
    """The merged kubeconfig; without files where none exists.

    Raises:
        BadKubeconfig: ``kubeconfig`` is given and not there, or a file can't be read.
    """
    environ = os.environ if environ is None else environ
    if kubeconfig:
        if not os.path.exists(kubeconfig):
            raise BadKubeconfig(
                f"--kubeconfig {kubeconfig}: there is no such file; check the path."
            )
        return merge([_read(kubeconfig)])
    stated = environ.get("KUBECONFIG", "")
    if stated:
        # As kubectl: empty and missing segments are skipped, and no ~ is expanded.
        paths = [path for path in dict.fromkeys(stated.split(os.pathsep)) if path]
    else:
        paths = [str((home or Path.home()) / ".kube" / "config")]
    return merge([_read(path) for path in paths if os.path.exists(path)])


def merge(files: Iterable[Kubeconfig]) -> Kubeconfig:
    """Several files as one: the first that sets a name or the current context wins."""
    found = list(files)

    def first(pick: Callable[[Kubeconfig], dict[str, Any]]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for file in found:
            for name, value in pick(file).items():
                merged.setdefault(name, value)
        return merged

    return Kubeconfig(
        files=tuple(path for file in found for path in file.files),
        current_context=next((f.current_context for f in found if f.current_context), ""),
        clusters=first(lambda file: file.clusters),
        users=first(lambda file: file.users),
        contexts=first(lambda file: file.contexts),
    )


def choose(
    config: Kubeconfig,
    overrides: Overrides | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    service_account: Path = SERVICE_ACCOUNT,
) -> Chosen:
    """The cluster and user to go to.

    Raises:
        BadKubeconfig: a name leads nowhere, the server is missing, or nothing says where to go.
    """
    overrides = overrides or Overrides()
    environ = os.environ if environ is None else environ
    if not config.files and not overrides.server:
        inside = in_cluster(environ, service_account)
        if inside is None:
            raise BadKubeconfig(_nothing_found(environ))
        return _overridden(inside, overrides)
    return _overridden(_named(config, overrides), overrides)


def in_cluster(
    environ: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT
) -> Chosen | None:
    """The API server and service account of the pod that this runs in; None outside of pods."""
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "")
    token, authority = service_account / "token", service_account / "ca.crt"
    if not host or not port or not token.is_file():
        return None
    try:
        namespace = (service_account / "namespace").read_text("utf-8").strip()
    except OSError:
        namespace = ""
    return Chosen(
        context="in-cluster",
        cluster_name="in-cluster",
        user_name="service account of the pod",
        namespace=namespace,
        cluster=Cluster(
            server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
            certificate_authority=str(authority) if authority.is_file() else "",
        ),
        user=User(token_file=str(token)),
        in_cluster=True,
    )


def without_login(url: str) -> str:
    """The address without a user and password in it."""
    return re.sub(r"(?<=//)[^/@]*@", "", url)


def _nothing_found(environ: Mapping[str, str]) -> str:
    stated = environ.get("KUBECONFIG", "")
    if stated:
        return (
            f"KUBECONFIG={stated}: none of these files exists; mend it, or give --kubeconfig FILE."
        )
    return (
        "no kubeconfig was found (KUBECONFIG is not set, ~/.kube/config is not there); "
        "give --kubeconfig FILE, or --server URL."
    )


def _named(config: Kubeconfig, overrides: Overrides) -> Chosen:
    place = " and ".join(config.files) or "the flags"
    name = overrides.context or config.current_context
    context = config.contexts.get(name) if name else None
    if name and context is None:
        asked = f"--context {name}" if overrides.context else f"current-context {name!r}"
        raise BadKubeconfig(f"{asked}: no such context in {place}; {_choice(config.contexts)}.")
    if context is None and not (overrides.cluster or overrides.server):
        raise BadKubeconfig(
            f"{place}: no current-context is set; give --context, {_choice(config.contexts)}."
        )
    context = context or Context()
    cluster_name = overrides.cluster or context.cluster
    cluster = config.clusters.get(cluster_name)
    if cluster is None:
        if overrides.cluster:
            raise BadKubeconfig(
                f"--cluster {overrides.cluster}: no such cluster in {place}; "
                f"{_choice(config.clusters)}."
            )
        if not overrides.server:
            missing = (
                f"cluster {cluster_name!r}, which is not there" if cluster_name else "no cluster"
            )
            raise BadKubeconfig(
                f"{place}: context {name!r} names {missing}; mend it, or give --cluster or --server."
            )
        cluster = Cluster()
    user_name = overrides.user or context.user
    user = config.users.get(user_name)
    if user is None:
        if overrides.user:
            raise BadKubeconfig(
                f"--user {overrides.user}: no such user in {place}; {_choice(config.users)}."
            )
        if user_name and not (overrides.token or overrides.client_certificate):
            # kubectl would go on as nobody here. An audit must not read as somebody else.
            raise BadKubeconfig(
                f"{place}: context {name!r} names user {user_name!r}, which is not there; "
                "mend it, or give --user or --token."
            )
        user = User()
    return Chosen(
        context=name,
        cluster_name=cluster_name,
        user_name=user_name,
        namespace=context.namespace,
        cluster=cluster,
        user=user,
    )


def _choice(names: Iterable[str]) -> str:
    known = sorted(name for name in names if name)
    if not known:
        return "it has none"
    shown = ", ".join(known[:10])
    return f"it has {shown}" + (f" and {len(known) - 10} more" if len(known) > 10 else "")


def _overridden(chosen: Chosen, overrides: Overrides) -> Chosen:
    cluster = _overridden_cluster(chosen.cluster, overrides)
    if not cluster.server:
        raise BadKubeconfig(
            f"cluster {chosen.cluster_name!r} of context {chosen.context!r} has no server; "
            "add `server:` to it, or give --server URL."
        )
    if "://" not in cluster.server:
        # kubectl takes a bare host too.
        cluster = msgspec.structs.replace(cluster, server=f"https://{cluster.server}")
    scheme = cluster.server.partition("://")[0].lower()
    if scheme not in ("http", "https") or not cluster.server.partition("://")[2].strip("/"):
        raise BadKubeconfig(
            f"{without_login(cluster.server)} is no address of an API server; "
            "write https://HOST:PORT."
        )
    user = _overridden_user(chosen.user, overrides)
    if user.impersonates and not user.as_user:
        raise BadKubeconfig(
            "groups, UID or extras to impersonate are given without a user; "
            "give --as NAME, or set `as:` in the kubeconfig."
        )
    return msgspec.structs.replace(
        chosen, cluster=cluster, user=user, namespace=overrides.namespace or chosen.namespace
    )


def _overridden_cluster(cluster: Cluster, overrides: Overrides) -> Cluster:
    changes: dict[str, Any] = {}
    if overrides.insecure_skip_tls_verify or overrides.certificate_authority:
        # Either replaces all that the file says about trust, as in clientcmd.
        changes["insecure_skip_tls_verify"] = overrides.insecure_skip_tls_verify
        changes["certificate_authority"] = _absolute(overrides.certificate_authority)
        changes["certificate_authority_data"] = ""
    if overrides.server or overrides.tls_server_name:
        # A new address drops the name that belonged to the old one, as in clientcmd.
        changes["tls_server_name"] = overrides.tls_server_name or ""
    if overrides.server:
        changes["server"] = overrides.server
    if overrides.disable_compression:
        changes["disable_compression"] = True
    return msgspec.structs.replace(cluster, **changes)


def _overridden_user(user: User, overrides: Overrides) -> User:
    changes: dict[str, Any] = {}
    if overrides.token:
        # The server looks at a client certificate first: left in place it would win over the token
        # that was asked for by name, and the scan would read as somebody else.
        changes = dict(
            token=overrides.token,
            token_file="",
            username="",
            password="",
            exec=None,
            auth_provider=None,
            client_certificate="",
            client_certificate_data="",
            client_key="",
            client_key_data="",
        )
    if overrides.client_certificate:
        changes["client_certificate"] = _absolute(overrides.client_certificate)
        changes["client_certificate_data"] = ""
    if overrides.client_key:
        changes["client_key"] = _absolute(overrides.client_key)
        changes["client_key_data"] = ""
    if overrides.as_user:
        # Somebody else altogether: groups of the one in the file are not mixed in.
        changes["as_user"] = overrides.as_user
        changes["as_uid"] = overrides.as_uid or ""
        changes["as_groups"] = overrides.as_groups
        changes["as_user_extra"] = overrides.as_user_extra
    else:
        if overrides.as_uid:
            changes["as_uid"] = overrides.as_uid
        if overrides.as_groups:
            changes["as_groups"] = overrides.as_groups
        if overrides.as_user_extra:
            changes["as_user_extra"] = overrides.as_user_extra
    return msgspec.structs.replace(user, **changes)


def _absolute(path: str | None) -> str:
    return os.path.abspath(path) if path else ""


def _read(path: str) -> Kubeconfig:
    import yaml

    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise BadKubeconfig(
            f"{path}: can't be read ({error.strerror or 'an error of the file system'}); "
            "check the file and its rights."
        ) from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(raw, Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError) as error:
        # The parser quotes the line it stumbles on, and that line may hold a token.
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise BadKubeconfig(f"{path}{line}: is no YAML; mend it.") from None
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise BadKubeconfig(f"{path}: is no kubeconfig; it must be a mapping with `clusters:`.")
    return _File(path, document).read()


class _File:
    """One parsed document, read with care: each error says where it is."""

    def __init__(self, path: str, document: dict[Any, Any]) -> None:
        self.path = path
        self.folder = os.path.dirname(os.path.abspath(path))
        self.document = document

    def read(self) -> Kubeconfig:
        return Kubeconfig(
            files=(self.path,),
            current_context=self._text(self.document, "current-context", "the file"),
            clusters={name: self._cluster(name, b) for name, b in self._entries("cluster")},
            users={name: self._user(name, body) for name, body in self._entries("user")},
            contexts={name: self._context(name, body) for name, body in self._entries("context")},
        )

    def _wrong(self, where: str, what: str) -> BadKubeconfig:
        return BadKubeconfig(f"{self.path}: {where} {what}; mend it.")

    def _entries(self, kind: str) -> Iterable[tuple[str, dict[str, Any]]]:
        entries = self.document.get(f"{kind}s")
        if entries is None:
            return
        if not isinstance(entries, list):
            raise self._wrong(f"`{kind}s`", "must be a list")
        seen = set()
        for position, entry in enumerate(entries, 1):
            if not isinstance(entry, dict):
                raise self._wrong(f"entry {position} of `{kind}s`", "must be a mapping with a name")
            # As kubectl: one without a name is called "".
            name = "" if entry.get("name") is None else str(entry["name"])
            body = entry.get(kind)
            if body is None:
                body = {}
            if not isinstance(body, dict):
                raise self._wrong(f"{kind} {name!r}", "must be a mapping")
            if name not in seen:
                seen.add(name)
                yield name, body

    def _context(self, name: str, body: dict[str, Any]) -> Context:
        where = f"context {name!r}"
        return Context(
            cluster=self._text(body, "cluster", where),
            user=self._text(body, "user", where),
            namespace=self._text(body, "namespace", where),
        )

    def _cluster(self, name: str, body: dict[str, Any]) -> Cluster:
        where = f"cluster {name!r}"
        extensions = body.get("extensions")
        return Cluster(
            server=self._text(body, "server", where).strip(),
            certificate_authority=self._file(body, "certificate-authority", where),
            certificate_authority_data=self._text(body, "certificate-authority-data", where),
            insecure_skip_tls_verify=self._flag(body, "insecure-skip-tls-verify", where),
            tls_server_name=self._text(body, "tls-server-name", where),
            proxy_url=self._text(body, "proxy-url", where),
            disable_compression=self._flag(body, "disable-compression", where),
            extensions=tuple(one for one in extensions if isinstance(one, dict))
            if isinstance(extensions, list)
            else (),
        )

    def _user(self, name: str, body: dict[str, Any]) -> User:
        where = f"user {name!r}"
        plugin = self._mapping(body, "exec", where)
        if plugin is not None and os.sep in str(plugin.get("command") or ""):
            plugin = {**plugin, "command": os.path.join(self.folder, str(plugin["command"]))}
        extra = self._mapping(body, "as-user-extra", where) or {}
        return User(
            token=self._text(body, "token", where),
            token_file=self._file(body, "tokenFile", where),
            username=self._text(body, "username", where),
            password=self._text(body, "password", where),
            client_certificate=self._file(body, "client-certificate", where),
            client_certificate_data=self._text(body, "client-certificate-data", where),
            client_key=self._file(body, "client-key", where),
            client_key_data=self._text(body, "client-key-data", where),
            exec=plugin,
            auth_provider=self._mapping(body, "auth-provider", where),
            as_user=self._text(body, "as", where),
            as_uid=self._text(body, "as-uid", where),
            as_groups=self._texts(body, "as-groups", where),
            as_user_extra={key: self._texts(extra, key, where) for key in extra},
        )

    def _text(self, body: dict[str, Any], key: str, where: str) -> str:
        value = body.get(key)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise self._wrong(f"`{key}` of {where}", "must be text")
        return str(value)

    def _file(self, body: dict[str, Any], key: str, where: str) -> str:
        path = self._text(body, key, where)
        return os.path.normpath(os.path.join(self.folder, path)) if path else ""

    def _flag(self, body: dict[str, Any], key: str, where: str) -> bool:
        value = body.get(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise self._wrong(f"`{key}` of {where}", "must be true or false")

    def _mapping(self, body: dict[str, Any], key: str, where: str) -> dict[str, Any] | None:
        value = body.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(f"`{key}` of {where}", "must be a mapping")
        return value

    def _texts(self, body: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = body.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self._wrong(f"`{key}` of {where}", "must be a list")
        return tuple(str(one) for one in value)
