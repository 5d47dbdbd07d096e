"""Scheduler configurations that stand in ConfigMaps of kube-system."""

import re

import msgspec

from kauditor.facts.system_config import SYSTEM_CONFIG_LISTING
from kauditor.model.fact import Fact, tallies
from kauditor.objects.workload import ConfigMap

MOST = 50
KIND = re.compile(r"\"?kind\"?:\s*\"?KubeSchedulerConfiguration\b")
SHARE = re.compile(r"^[\s{,-]*\"?percentageOfNodesToScore\"?:\s*(\d+)", re.MULTILINE)


class SchedulerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration. ``shares``: each percentageOfNodesToScore set in it; 0 is adaptive."""

    name: str
    shares: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"ConfigMap kube-system/{self.name}"


class SchedulerConfigs(Fact, frozen=True, kw_only=True):
    """At most 50 configurations."""

    configs: tuple[SchedulerConfig, ...]


@tallies(SchedulerConfigs, SYSTEM_CONFIG_LISTING)
class SchedulerConfigTally:
    """Looks for the kind in the text of ConfigMaps, and drops the rest."""

    def __init__(self) -> None:
        self.configs: list[SchedulerConfig] = []

    def add(self, config: ConfigMap) -> None:
        """Read one ConfigMap."""
        texts = [text for text in (config.data or {}).values() if KIND.search(text)]
        if texts:
            shares = [int(share) for text in texts for share in SHARE.findall(text)]
            self.configs.append(
                SchedulerConfig(name=config.metadata.name, shares=tuple(shares[:MOST]))
            )

    def total(self) -> SchedulerConfigs:
        """The configurations."""
        ordered = sorted(self.configs, key=lambda one: one.name)
        return SchedulerConfigs(configs=tuple(ordered[:MOST]))
