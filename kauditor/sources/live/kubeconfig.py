"""Kubeconfig files, merged as kubectl merges them.

The official client takes the last file's current-context, kubectl the first: with two files it
would audit another cluster than ``kubectl`` shows. So the merge is ours; authentication is not.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_FILES_OF_CLUSTER = ("certificate-authority",)
_FILES_OF_USER = ("client-certificate", "client-key", "tokenFile")


class BadKubeconfig(ValueError):
    """A kubeconfig that can't be used; one sentence that says what, where and what to do."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """All files together: the first value of a name, the first current-context."""

    current_context: str
    contexts: dict[str, dict[str, Any]]
    clusters: dict[str, dict[str, Any]]
    users: dict[str, dict[str, Any]]
    files: tuple[str, ...]


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """One context, looked up. File names in ``cluster`` and ``user`` are absolute."""

    context: str
    cluster_name: str
    user_name: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    namespace: str
    in_cluster: bool = False

    def __repr__(self) -> str:
        # The user holds credentials; they must not reach a log by way of a repr.
        return f"Resolved(context={self.context!r}, cluster={self.cluster_name!r})"


def candidates(flag: str | None, environment: Mapping[str, str]) -> tuple[list[Path], bool]:
    """The files to read, and whether each has to exist (only the one of --kubeconfig does)."""
    if flag:
        return [Path(flag)], True
    named = environment.get("KUBECONFIG", "")
    if named:
        return [Path(part) for part in named.split(os.pathsep) if part], False
    home = environment.get("HOME") or os.path.expanduser("~")
    return [Path(home) / ".kube" / "config"], False


def merge(files: list[Path], *, must_exist: bool = False) -> Merged:
    """Read and merge; empty and missing files are passed over.

    Raises:
        BadKubeconfig: a file can't be read or is no kubeconfig.
    """
    current = ""
    tables: dict[str, dict[str, dict[str, Any]]] = {"contexts": {}, "clusters": {}, "users": {}}
    read = []
    for file in files:
        if not file.exists():
            if must_exist:
                raise BadKubeconfig(f"kubeconfig {file}: there is no such file.")
            continue
        document = _read(file)
        if document is None:
            continue
        read.append(str(file))
        current = current or str(document.get("current-context") or "")
        for table, kind in (("contexts", "context"), ("clusters", "cluster"), ("users", "user")):
            for entry in _entries(document, table, file):
                held = dict(entry.get(kind) or {})
                _make_absolute(held, kind, file)
                tables[table].setdefault(str(entry.get("name", "")), held)
    return Merged(
        current_context=current,
        contexts=tables["contexts"],
        clusters=tables["clusters"],
        users=tables["users"],
        files=tuple(read),
    )


def _read(file: Path) -> dict[str, Any] | None:
    import yaml

    try:
        # utf-8-sig: Windows tools write a byte order mark.
        document = yaml.safe_load(_text(file.read_bytes()))
    except OSError as error:
        raise BadKubeconfig(f"kubeconfig {file}: {error.strerror or error}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # A parser's message quotes the line, and the line may hold a token.
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise BadKubeconfig(f"kubeconfig {file}: it is not YAML{where}; mend the file.") from None
    if document is None:
        return None
    if not isinstance(document, dict):
        raise BadKubeconfig(f"kubeconfig {file}: it is no kubeconfig; it holds no mapping.")
    return document


def _text(raw: bytes) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16")
    return raw.decode("utf-8-sig")


def _entries(document: dict[str, Any], table: str, file: Path) -> list[dict[str, Any]]:
    entries = document.get(table) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadKubeconfig(f"kubeconfig {file}: {table} is no list of named entries.")
    return entries


def _make_absolute(held: dict[str, Any], kind: str, file: Path) -> None:
    # kubectl resolves a relative path against the file that states it.
    keys = {"cluster": _FILES_OF_CLUSTER, "user": _FILES_OF_USER}.get(kind, ())
    folder = file.resolve().parent
    for key in keys:
        if held.get(key):
            held[key] = str(folder / str(held[key]))
    plugin = held.get("exec")
    if kind == "user" and isinstance(plugin, dict):
        command = str(plugin.get("command") or "")
        plugin = {**plugin, "args": plugin.get("args") or []}
        if os.sep in command and not os.path.isabs(command):
            plugin["command"] = str(folder / command)
        held["exec"] = plugin


def resolve(
    merged: Merged,
    *,
    context: str | None = None,
    cluster: str | None = None,
    user: str | None = None,
    namespace: str | None = None,
    server: str | None = None,
) -> Resolved:
    """Look up a context, with kubectl's overrides.

    Raises:
        BadKubeconfig: the context, its cluster or its user is not there, or no server is named.
    """
    name = context if context is not None else merged.current_context
    where = " or ".join(merged.files) or "the kubeconfig"
    held = merged.contexts.get(name)
    if held is None and (context is not None or name):
        known = ", ".join(sorted(merged.contexts)) or "none"
        asked = "--context" if context is not None else "current-context"
        raise BadKubeconfig(f"{asked} {name!r} is not in {where}; the contexts there are: {known}.")
    if held is None and not (server or (cluster and user)):
        known = ", ".join(sorted(merged.contexts)) or "none"
        raise BadKubeconfig(
            f"{where} has no current-context; choose one with --context (there are: {known})."
        )
    held = held or {}
    cluster_name = cluster or str(held.get("cluster") or "")
    user_name = user or str(held.get("user") or "")
    found = merged.clusters.get(cluster_name)
    if found is None and not (server and not cluster_name):
        raise BadKubeconfig(
            f"cluster {cluster_name!r} of context {name!r} is not in {where}; add it, "
            "or name another with --cluster."
        )
    who = merged.users.get(user_name)
    if who is None and user_name:
        raise BadKubeconfig(
            f"user {user_name!r} of context {name!r} is not in {where}; add it, "
            "or name another with --user."
        )
    address = server or (found or {}).get("server")
    if not address:
        raise BadKubeconfig(
            f"cluster {cluster_name!r} in {where} names no server; set it, or give --server."
        )
    return Resolved(
        context=name,
        cluster_name=cluster_name or "given by --server",
        user_name=user_name,
        cluster={**(found or {}), "server": str(address)},
        user=dict(who or {}),
        namespace=namespace or str(held.get("namespace") or ""),
    )


def in_cluster(environment: Mapping[str, str], account: Path = ACCOUNT) -> Resolved | None:
    """The pod's own service account; null outside a pod."""
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port or not (account / "token").exists():
        return None
    address = f"[{host}]" if ":" in host else host
    return Resolved(
        context="in-cluster",
        cluster_name="in-cluster",
        user_name="service account of this pod",
        cluster={
            "server": f"https://{address}:{port}",
            "certificate-authority": str(account / "ca.crt"),
        },
        user={"tokenFile": str(account / "token")},
        namespace="",
        in_cluster=True,
    )


def find(
    *,
    kubeconfig: str | None,
    context: str | None,
    cluster: str | None,
    user: str | None,
    namespace: str | None,
    server: str | None,
    environment: Mapping[str, str],
) -> Resolved:
    """The cluster that kubectl would speak to with the same flags and environment.

    Raises:
        BadKubeconfig: there is none, or it can't be used.
    """
    files, must_exist = candidates(kubeconfig, environment)
    merged = merge(files, must_exist=must_exist)
    if not merged.files and not server:
        here = in_cluster(environment)
        if here is not None and not (context or cluster or user):
            return here
        looked = ", ".join(str(file) for file in files)
        raise BadKubeconfig(
            f"no kubeconfig was found ({looked}); name one with --kubeconfig, or set KUBECONFIG."
        )
    return resolve(
        merged,
        context=context,
        cluster=cluster,
        user=user,
        namespace=namespace,
        server=server,
    )
