"""The one door for authors of checks and facts.

Everything a check needs is here, and a check imports nothing else of kauditor.
``docs/adding-a-check.md`` shows the way in five steps.
"""

from kauditor.facts.add_ons import AddOn, AddOns
from kauditor.facts.affinity_terms import AffinityOwner, AffinityTerms
from kauditor.facts.api_server_metrics import ApiServerMetrics
from kauditor.facts.attach_slots import AttachSlots, CsiNodes, DriverSlots, VolumeAttachments
from kauditor.facts.cluster_cidr import BlockRange, ClusterCidr
from kauditor.facts.cluster_identity import ClusterIdentity
from kauditor.facts.cluster_wide_readers import ClusterWideReaders, Reader
from kauditor.facts.cni import Cni
from kauditor.facts.control_plane import ControlPlane, flag_evidence, flag_origin
from kauditor.facts.daemon_sets import DaemonSet, DaemonSets
from kauditor.facts.horizontal_autoscalers import HorizontalAutoscalers
from kauditor.facts.nodes import Nodes, Pool
from kauditor.facts.pods import Pods
from kauditor.facts.provider import Provider
from kauditor.facts.readiness import Readiness
from kauditor.facts.scale import Scale
from kauditor.facts.server_version import ServerVersion
from kauditor.facts.stated import Stated
from kauditor.facts.static_pods import StaticPod, StaticPods
from kauditor.facts.system_config import DnsScaling, SystemConfig
from kauditor.facts.volumes import Claims, Volumes
from kauditor.model.check import Area, BadCheck, Check, check
from kauditor.model.dimension import Dimension, Growth, LimitKind, SourceClass
from kauditor.model.fact import (
    Evidence,
    Fact,
    Origin,
    Seen,
    Tally,
    Unknown,
    Why,
    derives,
    tallies,
)
from kauditor.model.finding import (
    Finding,
    Severity,
    State,
    fail,
    in_bytes,
    in_words,
    measure,
    ok,
    seen,
    skip,
    unknown,
    warn,
)
from kauditor.model.source import Count, Exposition, Grant, Listing, Page, Sample
from kauditor.objects.meta import Meta, Struct, quantity
from kauditor.objects.workload import flags_of

__all__ = [
    "AddOn",
    "AddOns",
    "AffinityOwner",
    "AffinityTerms",
    "ApiServerMetrics",
    "Area",
    "AttachSlots",
    "BadCheck",
    "BlockRange",
    "Check",
    "Claims",
    "ClusterCidr",
    "ClusterIdentity",
    "ClusterWideReaders",
    "Cni",
    "ControlPlane",
    "Count",
    "CsiNodes",
    "DaemonSet",
    "DaemonSets",
    "Dimension",
    "DnsScaling",
    "DriverSlots",
    "Evidence",
    "Exposition",
    "Fact",
    "Finding",
    "Grant",
    "Growth",
    "HorizontalAutoscalers",
    "LimitKind",
    "Listing",
    "Meta",
    "Nodes",
    "Origin",
    "Page",
    "Pods",
    "Pool",
    "Provider",
    "Reader",
    "Readiness",
    "Sample",
    "Scale",
    "Seen",
    "ServerVersion",
    "Severity",
    "SourceClass",
    "State",
    "Stated",
    "StaticPod",
    "StaticPods",
    "Struct",
    "SystemConfig",
    "Tally",
    "Unknown",
    "VolumeAttachments",
    "Volumes",
    "Why",
    "check",
    "derives",
    "fail",
    "flag_evidence",
    "flag_origin",
    "flags_of",
    "in_bytes",
    "in_words",
    "measure",
    "ok",
    "quantity",
    "seen",
    "skip",
    "tallies",
    "unknown",
    "warn",
]
