"""A fact that this pack brings along: ResourceQuotas by namespace."""

from kauditor.api import Fact, Listing, Meta, Struct, tallies


class Quota(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One ResourceQuota."""

    metadata: Meta = Meta()


class QuotaNamespaces(Fact, frozen=True, kw_only=True):
    """How many ResourceQuotas each namespace has."""

    quotas: dict[str, int]


@tallies(QuotaNamespaces, Listing("v1", "resourcequotas", Quota))
class QuotaTally:
    """Counts ResourceQuotas."""

    def __init__(self) -> None:
        self.quotas: dict[str, int] = {}

    def add(self, quota: Quota) -> None:
        """Count one."""
        namespace = quota.metadata.namespace
        self.quotas[namespace] = self.quotas.get(namespace, 0) + 1

    def total(self) -> QuotaNamespaces:
        """The quotas."""
        return QuotaNamespaces(quotas=dict(sorted(self.quotas.items())))
