"""The one door for authors of checks and facts.

Everything a check needs is here, and a check imports nothing else of kauditor.
``docs/adding-a-check.md`` shows the way in five steps.
"""

from kauditor.facts.add_ons import AddOn, AddOns
from kauditor.facts.affinity_terms import AffinityOwner, AffinityTerms
from kauditor.facts.api_server_metrics import ApiServerMetrics
from kauditor.facts.api_services import ApiServices, UnavailableApi
from kauditor.facts.attach_slots import AttachSlots, CsiNodes, DriverSlots, VolumeAttachments
from kauditor.facts.budgeted_namespaces import BudgetedNamespaces
from kauditor.facts.calico import BgpConfigurations, BgpPeers, IpamBlocks, IpPools
from kauditor.facts.cilium_identities import CiliumIdentities
from kauditor.facts.cluster_cidr import BlockRange, ClusterCidr
from kauditor.facts.cluster_identity import ClusterIdentity
from kauditor.facts.cluster_wide_readers import ClusterWideReaders, Reader
from kauditor.facts.cni import Cni
from kauditor.facts.control_plane import ControlPlane, flag_evidence, flag_origin
from kauditor.facts.control_plane_leases import ControlPlaneLeases, LeaderLease
from kauditor.facts.csi_sidecars import CsiController, CsiControllers
from kauditor.facts.daemon_sets import DaemonSet, DaemonSets
from kauditor.facts.dns_pods import DnsPods
from kauditor.facts.endpoint_slices import EndpointSlices, LargeService
from kauditor.facts.etcd_quota import EtcdQuota
from kauditor.facts.flannel_backends import FlannelBackends
from kauditor.facts.flow_schemas import FlowSchemas
from kauditor.facts.horizontal_autoscalers import HorizontalAutoscalers
from kauditor.facts.node_pools import NodePoolInfo, NodePools
from kauditor.facts.nodes import Nodes, Pool
from kauditor.facts.object_counts import CrdCount, EventCount
from kauditor.facts.pod_room import FullNode, NodeSlots, PodRoom
from kauditor.facts.pods import Pods
from kauditor.facts.priority_classes import PriorityClasses
from kauditor.facts.provider import Provider
from kauditor.facts.readiness import Readiness
from kauditor.facts.scale import Scale
from kauditor.facts.scheduler_configs import SchedulerConfig, SchedulerConfigs
from kauditor.facts.schedulers import Schedulers
from kauditor.facts.server_version import ServerVersion
from kauditor.facts.service_backends import ServiceBackends
from kauditor.facts.service_proxy import ServiceProxy
from kauditor.facts.service_ranges import ServiceCidrs, ServiceRange, ServiceRanges
from kauditor.facts.services import Services
from kauditor.facts.stated import Stated
from kauditor.facts.static_pods import StaticPod, StaticPods
from kauditor.facts.storage_classes import AttachingDrivers, ClassInfo, StorageClasses
from kauditor.facts.system_config import DnsScaling, SystemConfig
from kauditor.facts.volumes import Claims, Volumes
from kauditor.facts.webhooks import MutatingWebhooks, ValidatingWebhooks, Webhook, Webhooks
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
    "ApiServices",
    "Area",
    "AttachSlots",
    "AttachingDrivers",
    "BadCheck",
    "BgpConfigurations",
    "BgpPeers",
    "BlockRange",
    "BudgetedNamespaces",
    "Check",
    "CiliumIdentities",
    "Claims",
    "ClassInfo",
    "ClusterCidr",
    "ClusterIdentity",
    "ClusterWideReaders",
    "Cni",
    "ControlPlane",
    "ControlPlaneLeases",
    "Count",
    "CrdCount",
    "CsiController",
    "CsiControllers",
    "CsiNodes",
    "DaemonSet",
    "DaemonSets",
    "Dimension",
    "DnsPods",
    "DnsScaling",
    "DriverSlots",
    "EndpointSlices",
    "EtcdQuota",
    "EventCount",
    "Evidence",
    "Exposition",
    "Fact",
    "Finding",
    "FlannelBackends",
    "FlowSchemas",
    "FullNode",
    "Grant",
    "Growth",
    "HorizontalAutoscalers",
    "IpPools",
    "IpamBlocks",
    "LargeService",
    "LeaderLease",
    "LimitKind",
    "Listing",
    "Meta",
    "MutatingWebhooks",
    "NodePoolInfo",
    "NodePools",
    "NodeSlots",
    "Nodes",
    "Origin",
    "Page",
    "PodRoom",
    "Pods",
    "Pool",
    "PriorityClasses",
    "Provider",
    "Reader",
    "Readiness",
    "Sample",
    "Scale",
    "SchedulerConfig",
    "SchedulerConfigs",
    "Schedulers",
    "Seen",
    "ServerVersion",
    "ServiceBackends",
    "ServiceCidrs",
    "ServiceProxy",
    "ServiceRange",
    "ServiceRanges",
    "Services",
    "Severity",
    "SourceClass",
    "State",
    "Stated",
    "StaticPod",
    "StaticPods",
    "StorageClasses",
    "Struct",
    "SystemConfig",
    "Tally",
    "UnavailableApi",
    "Unknown",
    "ValidatingWebhooks",
    "VolumeAttachments",
    "Volumes",
    "Webhook",
    "Webhooks",
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
