"""Deployments, DaemonSets and StatefulSets, seen alike."""

from typing import Any

import msgspec

from kauditor.objects.meta import LabelSelector, Meta, Struct


class EnvVar(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One variable. The value is looked at by facts that need one setting, and never kept."""

    name: str = ""
    value: str = ""


class Resources(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Requests and limits, as written."""

    requests: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None


class TemplateContainer(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A container of a pod template."""

    name: str = ""
    image: str = ""
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[EnvVar] | None = None
    resources: Resources = Resources()


class TemplateSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec.template.spec``."""

    service_account_name: str = ""
    containers: list[TemplateContainer] | None = None
    host_network: bool = False
    priority_class_name: str = ""


class Template(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec.template``."""

    metadata: Meta = Meta()
    spec: TemplateSpec = TemplateSpec()


class WorkloadSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec``. ``replicas`` is null for DaemonSets (and means 1 elsewhere)."""

    replicas: int | None = None
    template: Template = Template()
    selector: LabelSelector = LabelSelector()


class WorkloadStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status``: Deployments and StatefulSets use the first two, DaemonSets the last two."""

    replicas: int = 0
    ready_replicas: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0


class Workload(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One Deployment, DaemonSet or StatefulSet."""

    metadata: Meta = Meta()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class ConfigMap(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A ConfigMap with its text."""

    metadata: Meta = Meta()
    data: dict[str, str] | None = None


class ScaleTarget(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """What an autoscaler scales."""

    kind: str = ""
    name: str = ""


class AutoscalerSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a HorizontalPodAutoscaler."""

    max_replicas: int = 0
    min_replicas: int | None = None
    scale_target_ref: ScaleTarget = ScaleTarget()


class HorizontalPodAutoscaler(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One HorizontalPodAutoscaler."""

    metadata: Meta = Meta()
    spec: AutoscalerSpec = AutoscalerSpec()


def flags_of(command: list[str] | None, args: list[str] | None) -> dict[str, str]:
    """Flags of a command line: ``--a=b`` and ``--a b`` → {"a": "b"}, a bare ``--a`` → "true".

    A repeated flag keeps all its values, joined by spaces (``--nodes`` of the autoscaler).
    """
    found: dict[str, str] = {}
    words = [word for part in (command or []) + (args or []) for word in _shell_words(part)]
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.startswith("-") or word.strip("-") == "":
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not equals:
            following = words[position] if position < len(words) else ""
            if following and not following.startswith("-"):
                value = following
                position += 1
            else:
                value = "true"
        found[name] = f"{found[name]} {value}" if name in found else value
    return found


def _shell_words(part: str) -> list[str]:
    # A wrapper such as ["/bin/sh", "-c", "exec tool --flag=1 | tee log"] hides the flags in one
    # string; a plain flag may hold spaces in its value and must stay whole.
    if " --" in part or "\n" in part:
        return [word.strip("\"'") for word in part.replace("\\\n", " ").split()]
    return [part]


class Raw(msgspec.Struct, frozen=True):
    """An object that is only counted."""
