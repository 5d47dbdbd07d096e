"""``kauditor.toml``: clusters and their targets, gates, waivers, facts that no API shows, options.

The project's file is looked for upwards from the working directory to the repository's root, as
``kauditor.toml`` or ``[tool.kauditor]`` in ``pyproject.toml``. Beneath it lies the user's file,
above it ``KAUDITOR_*`` variables and, on top, flags. Of every value it is known where it is from.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from kauditor.model.check import Area
from kauditor.model.finding import Severity
from kauditor.model.waiver import Waiver

FILE = "kauditor.toml"
PREFIX = "KAUDITOR_"
DEFAULT = "default"

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
Points = Annotated[int, msgspec.Meta(ge=0, le=100)]
NodeCount = Annotated[int, msgspec.Meta(ge=0)]
TargetCount = Annotated[int, msgspec.Meta(ge=1)]

T = TypeVar("T", bound=msgspec.Struct)


class BadSettings(ValueError):
    """A settings file that can't be used; the message says what, where and what to do."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Base of all tables: an unknown key is an error, keys are written with dashes."""


class GateSettings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """``[gate]`` and ``[cluster.NAME.gate]``: what a scan is held to.

    ``min-limit`` in nodes, scores in points, ``min-coverage`` in percent. ``baseline`` is a saved
    JSON report; its path is relative to the settings file.
    """

    min_limit: NodeCount | None = None
    min_score: Points | None = None
    min_area_score: dict[Area, Points] | None = None
    fail_on: Severity | None = None
    min_coverage: Percent | None = None
    fail_on_new: bool | None = None
    fail_on_worse: bool | None = None
    baseline: str | None = None


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
    target_nodes: TargetCount | None = None
    gate: GateSettings | None = None
    facts: FactSettings | None = None


class Settings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The whole file. ``checks`` gives options by id or name of a check."""

    cluster: dict[str, ClusterSettings] = {}
    facts: FactSettings = FactSettings()
    gate: GateSettings = GateSettings()
    checks: dict[str, dict[str, Any]] = {}
    waiver: tuple[Waiver, ...] = ()

    def name_of(self, context: str) -> str:
        """What the file calls the cluster with this context (or name); "" where it has none."""
        return next(
            (
                name
                for name, one in self.cluster.items()
                if context and (one.context or name) == context
            ),
            "",
        )

    def of_cluster(self, context: str) -> ClusterSettings:
        """The settings of the cluster with this context (or name), the file's own beneath."""
        named = self.cluster.get(self.name_of(context), ClusterSettings())
        return msgspec.structs.replace(
            named,
            gate=over(named.gate or GateSettings(), self.gate),
            facts=over(named.facts or FactSettings(), self.facts),
        )


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings and where they are from.

    ``file`` is the project's (or the one that was named), ``user_file`` the user's; null where
    there is none. ``environment`` is what ``KAUDITOR_*`` say, which outweighs both. ``origins``
    names the file of each value that a file gives, by dotted key.
    """

    settings: Settings
    file: Path | None
    user_file: Path | None = None
    environment: ClusterSettings = ClusterSettings()
    origins: dict[str, str] = {}


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it applies, and where it is from."""

    key: str
    value: Any
    origin: str


def over(top: T, beneath: T) -> T:
    """``top`` with its gaps filled from ``beneath``, key by key, tables inside tables too."""
    changed: dict[str, Any] = {}
    for name in top.__struct_fields__:
        high, low = getattr(top, name), getattr(beneath, name)
        if high is None:
            changed[name] = low
        elif isinstance(high, dict) and isinstance(low, dict):
            changed[name] = {**low, **high}
        elif isinstance(high, msgspec.Struct) and isinstance(low, msgspec.Struct):
            changed[name] = over(high, low)
    return msgspec.structs.replace(top, **changed)


def find(start: Path) -> Path | None:
    """The project's settings file that applies in ``start``; null where there is none."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        project = folder / "pyproject.toml"
        if project.is_file() and "[tool.kauditor" in project.read_text("utf-8", "replace"):
            return project
        if (folder / ".git").exists():
            break
    return None


def find_user(environment: Mapping[str, str]) -> Path | None:
    """The user's settings file; null where there is none."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME", ""), ".config"
    )
    user = Path(home) / "kauditor" / "config.toml"
    return user if user.is_file() else None


def load(
    file: Path | None,
    *,
    user_file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Loaded:
    """Read the project's file over the user's, and the variables.

    Raises:
        BadSettings: not readable, not TOML, an unknown key or a value of the wrong kind.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for one in dict.fromkeys((user_file, file)):
        if one is None:
            continue
        document = _document(one)
        # Each is judged by itself, so that a complaint names the right file.
        _converted(document, one)
        _anchor(document, one.parent)
        held = len(merged.get("waiver", ()))
        for key in _leaves(document, held):
            origins[key] = str(one)
        merged = _merged(merged, document)
    return Loaded(
        settings=_converted(merged, file or user_file),
        file=file,
        user_file=user_file,
        environment=from_environment(environment or {}),
        origins=origins,
    )


def _document(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadSettings(f"{file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file}: it is not UTF-8 text.") from error
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSettings(f"{file}: it is not TOML: {error}.") from error
    if file.name == "pyproject.toml":
        tool = document.get("tool", {})
        document = tool.get("kauditor", {}) if isinstance(tool, dict) else {}
    return document


def _converted(document: dict[str, Any], file: Path | None) -> Settings:
    try:
        return msgspec.convert(document, Settings)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{file}: {_explained(str(error))}") from error


def _anchor(document: dict[str, Any], folder: Path) -> None:
    """Paths in a file are relative to it, wherever the command runs."""
    clusters = document.get("cluster", {}).values()
    for gate in (document.get("gate", {}), *(one.get("gate", {}) for one in clusters)):
        if "baseline" in gate:
            gate["baseline"] = str(folder / gate["baseline"])


def _merged(beneath: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    made = dict(beneath)
    for key, value in top.items():
        held = made.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            made[key] = _merged(held, value)
        elif key == "waiver" and held:
            made[key] = [*held, *value]
        else:
            made[key] = value
    return made


def _leaves(document: Mapping[str, Any], waivers: int = 0, prefix: str = "") -> dict[str, Any]:
    """Values by dotted key; waivers are numbered, after ``waivers`` earlier ones."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        if not prefix and key == "waiver":
            found |= {f"waiver[{waivers + n}]": one for n, one in enumerate(value)}
        elif isinstance(value, Mapping):
            found |= _leaves(value, prefix=f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def variable(key: str) -> str:
    """The variable of a setting: "gate.min-limit" → "KAUDITOR_MIN_LIMIT"."""
    return PREFIX + key.removeprefix("gate.").replace("-", "_").upper()


def from_environment(environment: Mapping[str, str]) -> ClusterSettings:
    """What ``KAUDITOR_*`` variables say of target and gate, for whatever cluster.

    A variable that is empty says nothing, and one that we do not know is left alone: in a pod,
    Kubernetes itself sets KAUDITOR_PORT and its like for a Service of our name.

    Raises:
        BadSettings: a value can't be read; the message names the variable.
    """
    gate: dict[str, Any] = {}
    for field in msgspec.structs.fields(GateSettings):
        text = environment.get(variable(f"gate.{field.encode_name}"), "")
        if text:
            gate[field.name] = _from_word(field, text, variable(field.encode_name))
    target = environment.get(variable("target-nodes"), "")
    nodes = msgspec.structs.fields(ClusterSettings)[1]
    return ClusterSettings(
        target_nodes=_from_word(nodes, target, variable("target-nodes")) if target else None,
        gate=GateSettings(**gate),
    )


def _from_word(field: Any, text: str, name: str) -> Any:
    if field.name == "min_area_score":
        return area_scores([one.strip() for one in text.split(",")], name)
    try:
        return msgspec.convert(text, field.type, strict=False)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{name}={text}: {error}.") from error


def area_scores(words: list[str], name: str) -> dict[Area, int]:
    """The least scores of areas, from words such as "network=70".

    Raises:
        BadSettings: an unknown area, or no number from 0 to 100; the message begins with ``name``.
    """
    found: dict[Area, int] = {}
    for word in words:
        area, equals, points = word.partition("=")
        if area not in tuple(Area):
            raise BadSettings(f"{name} {word}: there is no area {area!r}; {_hint(area, Area)}")
        if not equals or not points.isascii() or not points.isdigit() or int(points) > 100:
            raise BadSettings(f"{name} {word}: write AREA=N, N from 0 to 100.")
        found[Area(area)] = int(points)
    return found


def resolve(loaded: Loaded, context: str, flags: ClusterSettings) -> list[Value]:
    """Every setting of a cluster as it applies, with its origin; flags on top.

    Without a context, what the file says of its clusters is listed as it is written.
    """
    settings = loaded.settings
    name = settings.name_of(context)
    mine = settings.of_cluster(context)
    layers = (
        (flags, lambda key: "--" + key.removeprefix("gate.")),
        (loaded.environment, variable),
        (mine, lambda key: _written(loaded, name, key)),
    )
    found = []
    for key in _keys(ClusterSettings):
        if key == "context":
            continue
        value, origin = None, DEFAULT
        for layer, label in reversed(layers):
            held = _at(layer, key)
            if held is not None:
                # Tables of numbers add up, key by key, as `over` does it.
                value = {**value, **held} if isinstance(value, dict) else held
                origin = label(key)
        found.append(Value(key=key, value=value, origin=origin))
    written = _leaves(msgspec.to_builtins(settings))
    found += [
        Value(key=key, value=written[key], origin=origin)
        for key, origin in loaded.origins.items()
        if key.startswith(("checks.", "waiver[")) or (not context and key.startswith("cluster."))
    ]
    return found


def _keys(table: type[Any], prefix: str = "") -> list[str]:
    found = []
    for field in msgspec.structs.fields(table):
        inner = _table_of(field.type)
        name = prefix + field.encode_name
        found += _keys(inner, f"{name}.") if inner else [name]
    return found


def _at(table: Any, key: str) -> Any:
    for part in key.split("."):
        if table is None:
            return None
        table = getattr(table, part.replace("-", "_"))
    return table


def _written(loaded: Loaded, name: str, key: str) -> str:
    for table, dotted in ((f"cluster.{name}.", True), ("", False)):
        places = [
            (held, origin)
            for held, origin in loaded.origins.items()
            if held == table + key or held.startswith(f"{table}{key}.")
        ]
        if places and (name or not dotted):
            where = (table + key).rpartition(".")[0]
            return f"{places[-1][1]}{f' [{where}]' if where else ''}"
    return DEFAULT


def schema() -> dict[str, Any]:
    """The JSON Schema of ``kauditor.toml``, for editors."""
    made = msgspec.json.schema(Settings)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kauditor.toml",
        **made,
    }


def _hint(word: str, known: Iterable[str]) -> str:
    names = [str(one) for one in known]
    near = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(names) + "."


def _explained(message: str) -> str:
    where = re.search(r" - at `\$\.?(.*)`$", message)
    place = where.group(1) if where else ""
    plain = message[: where.start()] if where else message
    unknown = re.search(r"unknown field `(.+?)`", plain)
    missing = re.search(r"missing required field `(.+?)`", plain)
    if missing:
        return f"[{place}] says no {missing.group(1)!r}: it has to."
    if "RFC3339 encoded date" in plain:
        plain = "write a date such as 2027-03-31"
    if not unknown:
        return f"{place or 'the file'}: {plain}."
    key = unknown.group(1)
    table: type[Any] = Settings
    for part in [part for part in re.split(r"[.\[\]]+", place) if part and part != "..."]:
        table = _table_under(table, part)
    known = [field.encode_name for field in msgspec.structs.fields(table)]
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "known keys are " + ", ".join(known) + "."
    return f"{f'[{place}] has' if place else 'it has'} no key {key!r}; {hint}"


def _table_of(kind: Any) -> type[Any] | None:
    """The table in an annotation such as ``GateSettings | None`` or ``tuple[Waiver, ...]``."""
    for one in (kind, *getattr(kind, "__args__", ())):
        if isinstance(one, type) and issubclass(one, msgspec.Struct):
            return one
    return None


def _table_under(table: type[Any], key: str) -> type[Any]:
    for field in msgspec.structs.fields(table):
        if field.encode_name == key:
            inner = _table_of(field.type)
            if inner is not None:
                return inner
    return ClusterSettings if table is Settings else table
