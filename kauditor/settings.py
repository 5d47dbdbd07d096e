"""``kauditor.toml``: clusters and their targets, facts that no API shows, options of checks.

Looked for upwards from the working directory to the repository's root, then as
``[tool.kauditor]`` in ``pyproject.toml``, then in the user's configuration folder.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kauditor.model.finding import Severity

FILE = "kauditor.toml"


class BadSettings(ValueError):
    """A settings file that can't be used; the message says what, where and what to do."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Base of all tables: an unknown key is an error, keys are written with dashes."""


class GateSettings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[cluster.NAME.gate]``."""

    min_limit: int | None = None
    min_score: int | None = None
    fail_on: Severity | None = None
    min_coverage: int | None = None


class NetworkFacts(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[facts.network]``."""

    cluster_cidr: str | None = None
    node_cidr_mask_size: int | None = None
    service_cidr: str | None = None


class EtcdFacts(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[facts.etcd]``; ``quota-bytes`` in bytes."""

    quota_bytes: int | None = None
    members: int | None = None
    events_split: bool | None = None


class SchedulerFacts(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[facts.scheduler]``; ``qps`` in requests per second."""

    qps: float | None = None
    zones: int | None = None


class AutoscalerFacts(
    _Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """``[facts.autoscaler]``."""

    max_nodes: int | None = None
    max_unready_percentage: int | None = None


class CloudFacts(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[facts.cloud]``; ``instance-quota`` in machines."""

    instance_quota: int | None = None


class FactSettings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[facts]``: what no API shows."""

    network: NetworkFacts = NetworkFacts()
    etcd: EtcdFacts = EtcdFacts()
    scheduler: SchedulerFacts = SchedulerFacts()
    autoscaler: AutoscalerFacts = AutoscalerFacts()
    cloud: CloudFacts = CloudFacts()

    def stated(self) -> dict[str, Any]:
        """Names of fields of the `Stated` fact and their values."""
        return {
            "cluster_cidr": self.network.cluster_cidr,
            "node_cidr_mask_size": self.network.node_cidr_mask_size,
            "service_cidr": self.network.service_cidr,
            "etcd_quota_bytes": self.etcd.quota_bytes,
            "etcd_members": self.etcd.members,
            "events_in_own_etcd": self.etcd.events_split,
            "scheduler_qps": self.scheduler.qps,
            "zones": self.scheduler.zones,
            "max_nodes": self.autoscaler.max_nodes,
            "max_unready_percentage": self.autoscaler.max_unready_percentage,
            "instance_quota": self.cloud.instance_quota,
        }


class ClusterSettings(
    _Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """``[cluster.NAME]``. Its facts and gate outweigh the file's."""

    context: str | None = None
    target_nodes: int | None = None
    gate: GateSettings | None = None
    facts: FactSettings | None = None


class Settings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The whole file. ``checks`` gives options by id or name of a check."""

    cluster: dict[str, ClusterSettings] = {}
    facts: FactSettings = FactSettings()
    gate: GateSettings = GateSettings()
    checks: dict[str, dict[str, Any]] = {}

    def of_cluster(self, context: str) -> ClusterSettings:
        """The settings of the cluster with this context (or name), the file's own beneath."""
        named = next(
            (
                one
                for name, one in self.cluster.items()
                if context and (one.context or name) == context
            ),
            ClusterSettings(),
        )
        return msgspec.structs.replace(
            named, gate=named.gate or self.gate, facts=named.facts or self.facts
        )


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings and the file they came from; null where there is none."""

    settings: Settings
    file: Path | None


def find(start: Path, environment: Mapping[str, str]) -> Path | None:
    """The settings file that applies in ``start``; null where there is none."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        project = folder / "pyproject.toml"
        if project.is_file() and "[tool.kauditor" in project.read_text("utf-8", "replace"):
            return project
        if (folder / ".git").exists():
            break
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME", ""), ".config"
    )
    user = Path(home) / "kauditor" / "config.toml"
    return user if user.is_file() else None


def load(file: Path | None) -> Loaded:
    """Read a settings file.

    Raises:
        BadSettings: not readable, not TOML, an unknown key or a value of the wrong kind.
    """
    if file is None:
        return Loaded(settings=Settings(), file=None)
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadSettings(f"{file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file}: it is not UTF-8 text.") from error
    try:
        document: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{file}: it is not TOML: {error}.") from error
    if file.name == "pyproject.toml":
        document = document.get("tool", {}).get("kauditor", {})
    try:
        return Loaded(settings=msgspec.convert(document, Settings), file=file)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{file}: {_explained(str(error), document)}") from error


def _explained(message: str, document: Any) -> str:
    where = re.search(r" - at `\$\.?(.*)`$", message)
    place = where.group(1) if where else ""
    plain = message[: where.start()] if where else message
    unknown = re.search(r"unknown field `(.+?)`", plain)
    if not unknown:
        return f"{place or 'the file'}: {plain}."
    key = unknown.group(1)
    table = Settings
    for part in [part for part in re.split(r"[.\[\]]+", place) if part and part != "..."]:
        table = _table_under(table, part)
    known = [field.encode_name for field in msgspec.structs.fields(table)]
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "known keys are " + ", ".join(known) + "."
    return f"{f'[{place}] has' if place else 'it has'} no key {key!r}; {hint}"


def _table_under(table: type[Any], key: str) -> type[Any]:
    for field in msgspec.structs.fields(table):
        if field.encode_name == key:
            for kind in (field.type, *getattr(field.type, "__args__", ())):
                if isinstance(kind, type) and issubclass(kind, _Table):
                    return kind
    return ClusterSettings if table is Settings else table
