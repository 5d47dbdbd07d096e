"""Karpenter's NodePools."""

from typing import Any

from kauditor.objects.meta import Meta, Struct


class NodePoolSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec``: limits by resource, as written; null is unbounded."""

    limits: dict[str, Any] | None = None


class NodePoolStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status``: what the pool's nodes have in all, as written."""

    resources: dict[str, Any] | None = None


class NodePool(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One NodePool."""

    metadata: Meta = Meta()
    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()
