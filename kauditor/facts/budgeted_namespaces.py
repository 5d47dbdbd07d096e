"""Namespaces that have a PodDisruptionBudget."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.meta import Meta, Struct


class Named(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """An object of which only the name and the namespace are read."""

    metadata: Meta = Meta()


class BudgetedNamespaces(Fact, frozen=True, kw_only=True):
    """Namespace → PodDisruptionBudgets in it; those without any are not in it."""

    budgets: dict[str, int]


@tallies(BudgetedNamespaces, Listing("policy/v1", "poddisruptionbudgets", Named))
class BudgetTally:
    """Counts budgets."""

    def __init__(self) -> None:
        self.budgets: dict[str, int] = {}

    def add(self, budget: Named) -> None:
        """Count one."""
        namespace = budget.metadata.namespace
        self.budgets[namespace] = self.budgets.get(namespace, 0) + 1

    def total(self) -> BudgetedNamespaces:
        """The counts."""
        return BudgetedNamespaces(budgets=dict(sorted(self.budgets.items())))
