"""Objects shaped like those of real clusters: what kubeadm writes, what add-ons install.

Pure functions that return objects; nothing here talks to a server.
"""

import json
import zlib
from typing import Any

from tests.cluster import kubeadm

Object = dict[str, Any]

ZONES = ("zone-a", "zone-b", "zone-c")
VERSION = "v1.37.2"
HOSTNAME = "kubernetes.io/hostname"


def node(
    name: str,
    *,
    zone: str,
    pool: str = "workers",
    cpu: str = "32",
    memory: str = "128Gi",
    pods: str = "110",
    labels: dict[str, str] | None = None,
    taints: list[Object] | None = None,
    version: str = VERSION,
    address: str = "",
    provider: str = "",
) -> Object:
    """One node. Its status is set too, so that it has capacity before its kubelet speaks.

    ``provider`` is the scheme of its provider id, such as "aws"; without an ``address`` kwok
    gives it one of loopback.
    """
    addresses = [
        {"type": "InternalIP", "address": address},
        {"type": "Hostname", "address": name},
    ]
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, "ephemeral-storage": "200Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                HOSTNAME: name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": zone,
                "topology.kubernetes.io/region": "region-1",
                "node.kubernetes.io/instance-type": f"{pool}-{cpu}",
                **(labels or {}),
            },
        },
        "spec": {
            "taints": taints or [],
            **({"providerID": f"{provider}:///{zone}/{name}"} if provider else {}),
        },
        "status": {
            **({"addresses": addresses} if address else {}),
            "capacity": amounts,
            "allocatable": amounts,
            "nodeInfo": {
                "kubeletVersion": version,
                "kubeProxyVersion": version,
                # A version that looks like a number breaks kwok's template.
                "kernelVersion": "6.1.0-generic",
                "osImage": "Debian GNU/Linux 12 (bookworm)",
                "containerRuntimeVersion": "containerd://2.1.0",
                "operatingSystem": "linux",
                "architecture": "amd64",
                "bootID": "",
                "machineID": "",
                "systemUUID": "",
            },
        },
    }


def nodes(count: int, *, pool: str = "workers", **more: Any) -> list[Object]:
    """Worker nodes, spread over three zones, each pool in a network of its own."""
    network = 16 + zlib.crc32(pool.encode()) % 200
    return [
        node(
            f"{pool}-{number:04}",
            zone=ZONES[number % len(ZONES)],
            pool=pool,
            address=f"10.{network}.{number // 250}.{1 + number % 250}",
            **more,
        )
        for number in range(count)
    ]


def namespace(name: str) -> Object:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def control_plane_nodes(count: int = 3) -> list[Object]:
    """Tainted control-plane nodes, as kubeadm marks them."""
    return [
        node(
            f"control-plane-{number}",
            zone=ZONES[number % len(ZONES)],
            pool="control-plane",
            cpu="16",
            memory="64Gi",
            address=f"10.0.0.{10 + number}",
            labels={
                "node-role.kubernetes.io/control-plane": "",
                "node.kubernetes.io/exclude-from-external-load-balancers": "",
            },
            taints=[{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
        )
        for number in range(count)
    ]


def static_pod(component: str, node_name: str, flags: dict[str, str]) -> Object:
    """The mirror that a kubelet makes of a control-plane component's static pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{component}-{node_name}",
            "namespace": "kube-system",
            "labels": {"component": component, "tier": "control-plane"},
            "annotations": {
                "kubernetes.io/config.mirror": "0123456789abcdef",
                "kubernetes.io/config.hash": "0123456789abcdef",
                "kubernetes.io/config.source": "file",
            },
        },
        "spec": {
            "nodeName": node_name,
            "hostNetwork": True,
            "priorityClassName": "system-node-critical",
            "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
            "containers": [
                {
                    "name": component,
                    "image": f"registry.example/{component}:{VERSION}",
                    "command": [component, *(f"--{flag}={flags[flag]}" for flag in sorted(flags))],
                    "resources": {"requests": {"cpu": kubeadm.CPU_REQUESTS[component]}},
                }
            ],
        },
    }


def control_plane_pods(
    count: int = 3,
    *,
    etcd: dict[str, str] | None = None,
    api_server: dict[str, str] | None = None,
    controller_manager: dict[str, str] | None = None,
    scheduler: dict[str, str] | None = None,
    cluster_cidr: str = "10.244.0.0/16",
) -> list[Object]:
    """etcd, API server, controller-manager and scheduler on each control-plane node.

    The flags are those that kubeadm sets, and ``etcd`` and its neighbours add to them.
    """
    members = {f"control-plane-{number}": f"10.0.0.{10 + number}" for number in range(count)}
    found = []
    for number, (name, address) in enumerate(members.items()):
        given: dict[str, dict[str, str]] = {
            "etcd": {**kubeadm.etcd_flags(number, members), **(etcd or {})},
            "kube-apiserver": {**kubeadm.api_server_flags(address), **(api_server or {})},
            "kube-controller-manager": {
                **kubeadm.controller_manager_flags(cluster_cidr),
                **(controller_manager or {}),
            },
            "kube-scheduler": {**kubeadm.scheduler_flags(), **(scheduler or {})},
        }
        found += [static_pod(component, name, flags) for component, flags in given.items()]
    return found


def kubeadm_config(pod_subnet: str = "10.244.0.0/16") -> Object:
    """What kubeadm wrote down when it made the cluster."""
    text = (
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
        f"kubernetesVersion: {VERSION}\nnetworking:\n  dnsDomain: cluster.local\n"
        f"  podSubnet: {pod_subnet}\n  serviceSubnet: 10.96.0.0/12\n"
    )
    return config_map("kubeadm-config", {"ClusterConfiguration": text})


def control_plane(
    count: int = 3,
    *,
    etcd_flags: dict[str, str] | None = None,
    apiserver_flags: dict[str, str] | None = None,
    controller_manager_flags: dict[str, str] | None = None,
    scheduler_flags: dict[str, str] | None = None,
    cluster_cidr: str = "10.244.0.0/16",
) -> list[Object]:
    """The whole of a kubeadm control plane: nodes, static pods' mirrors, kubeadm's ConfigMap."""
    return [
        *control_plane_nodes(count),
        *control_plane_pods(
            count,
            etcd=etcd_flags,
            api_server=apiserver_flags,
            controller_manager=controller_manager_flags,
            scheduler=scheduler_flags,
            cluster_cidr=cluster_cidr,
        ),
        kubeadm_config(cluster_cidr),
    ]


def config_map(name: str, data: dict[str, str], namespace: str = "kube-system") -> Object:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def _template(name: str, labels: dict[str, str], container: Object, **spec: Any) -> Object:
    return {
        "metadata": {"labels": labels},
        "spec": {
            "containers": [{"name": name, "image": f"registry.example/{name}:v1", **container}],
            **spec,
        },
    }


def deployment(
    name: str,
    namespace: str = "default",
    *,
    replicas: int = 1,
    labels: dict[str, str] | None = None,
    container: Object | None = None,
    **spec: Any,
) -> Object:
    """A Deployment of one container; ``spec`` adds to the pod's."""
    selector = labels or {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": selector},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selector},
            "template": _template(name, selector, container or {}, **spec),
        },
    }


def daemon_set(
    name: str,
    namespace: str = "kube-system",
    *,
    labels: dict[str, str] | None = None,
    container: Object | None = None,
    **spec: Any,
) -> Object:
    """A DaemonSet that runs on every node, the control plane's too."""
    selector = labels or {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": selector},
        "spec": {
            "selector": {"matchLabels": selector},
            "template": _template(
                name,
                selector,
                container or {},
                **{"tolerations": [{"operator": "Exists"}], **spec},
            ),
        },
    }


def service(name: str, namespace: str, selector: dict[str, str], port: int = 80) -> Object:
    """A ClusterIP service."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector, "ports": [{"name": "http", "port": port}]},
    }


COREFILE = """.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
"""
COREDNS_RULES: list[Object] = [
    {
        "apiGroups": [""],
        "resources": ["endpoints", "services", "pods", "namespaces"],
        "verbs": ["list", "watch"],
    },
    {
        "apiGroups": ["discovery.k8s.io"],
        "resources": ["endpointslices"],
        "verbs": ["list", "watch"],
    },
]


def coredns(replicas: int = 2, memory_limit: str = "170Mi") -> list[Object]:
    """CoreDNS as kubeadm installs it."""
    labels = {"k8s-app": "kube-dns"}
    role = "system:coredns"
    kube_dns = service("kube-dns", "kube-system", labels, 53)
    kube_dns["metadata"]["labels"] = {**labels, "kubernetes.io/name": "CoreDNS"}
    kube_dns["spec"] = {
        # What kubelets tell every pod; the tenth address of the services' range.
        "clusterIP": "10.96.0.10",
        "selector": labels,
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
        ],
    }
    return [
        service_account("coredns", "kube-system"),
        cluster_role(role, COREDNS_RULES),
        binding(role, {"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}),
        config_map("coredns", {"Corefile": COREFILE}),
        deployment(
            "coredns",
            "kube-system",
            replicas=replicas,
            labels=labels,
            container={
                "image": "registry.example/coredns/coredns:v1.14.6",
                "args": ["-conf", "/etc/coredns/Corefile"],
                "resources": {
                    "limits": {"memory": memory_limit},
                    "requests": {"cpu": "100m", "memory": "70Mi"},
                },
                "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}},
            },
            priorityClassName="system-cluster-critical",
            serviceAccountName="coredns",
            dnsPolicy="Default",
            nodeSelector={"kubernetes.io/os": "linux"},
            affinity={
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 100,
                            "podAffinityTerm": {
                                "topologyKey": HOSTNAME,
                                "labelSelector": {"matchLabels": labels},
                            },
                        }
                    ]
                }
            },
            tolerations=[
                {"key": "CriticalAddonsOnly", "operator": "Exists"},
                {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
            ],
        ),
        kube_dns,
    ]


def dns_autoscaler(nodes_per_replica: int = 16, cores_per_replica: int = 256) -> list[Object]:
    """The cluster-proportional-autoscaler for DNS."""
    linear = {
        "coresPerReplica": cores_per_replica,
        "nodesPerReplica": nodes_per_replica,
        "min": 2,
        "preventSinglePointFailure": True,
    }
    return [
        config_map("dns-autoscaler", {"linear": json.dumps(linear)}),
        deployment(
            "dns-autoscaler",
            "kube-system",
            labels={"k8s-app": "dns-autoscaler"},
            container={
                "image": "registry.example/cpa/cluster-proportional-autoscaler:v1.9.0",
                "command": [
                    "/cluster-proportional-autoscaler",
                    "--namespace=kube-system",
                    "--configmap=dns-autoscaler",
                    "--target=Deployment/coredns",
                ],
            },
        ),
    ]


KUBE_PROXY_COMMAND = [
    "/usr/local/bin/kube-proxy",
    "--config=/var/lib/kube-proxy/config.conf",
    "--hostname-override=$(NODE_NAME)",
]


def kube_proxy(mode: str = "") -> list[Object]:
    """kube-proxy as kubeadm installs it; an empty mode is the platform's default."""
    text = (
        "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
        f'clusterCIDR: 10.244.0.0/16\nmode: "{mode}"\nconntrack:\n  maxPerCore: null\n'
    )
    return [
        service_account("kube-proxy", "kube-system"),
        config_map("kube-proxy", {"config.conf": text}),
        daemon_set(
            "kube-proxy",
            labels={"k8s-app": "kube-proxy"},
            container={"command": KUBE_PROXY_COMMAND},
            hostNetwork=True,
            serviceAccountName="kube-proxy",
            priorityClassName="system-node-critical",
        ),
    ]


def flannel(network: str = "10.244.0.0/16", backend: str = "vxlan") -> list[Object]:
    """Flannel, which uses the nodes' pod blocks."""
    config = json.dumps({"Network": network, "Backend": {"Type": backend}})
    return [
        config_map("kube-flannel-cfg", {"net-conf.json": config}),
        daemon_set(
            "kube-flannel-ds",
            labels={"app": "flannel"},
            container={"command": ["/opt/bin/flanneld", "--ip-masq", "--kube-subnet-mgr"]},
            hostNetwork=True,
            priorityClassName="system-node-critical",
        ),
    ]


def calico(
    typha_replicas: int = 0, datastore: str = "kubernetes", name: str = "calico-node"
) -> list[Object]:
    """Calico by manifest; no Typha where ``typha_replicas`` is 0.

    Under the name "canal" it stands for policy by Calico over the nodes' own pod blocks.
    """
    service_name = "calico-typha" if typha_replicas else "none"
    found = [
        config_map("calico-config", {"typha_service_name": service_name}),
        daemon_set(
            name,
            labels={"k8s-app": name},
            container={
                "image": "registry.example/calico/node:v3.30.3",
                "env": [
                    {"name": "DATASTORE_TYPE", "value": datastore},
                    {"name": "CALICO_IPV4POOL_CIDR", "value": "10.244.0.0/16"},
                ],
            },
            hostNetwork=True,
            priorityClassName="system-node-critical",
        ),
    ]
    if typha_replicas:
        found.append(
            deployment(
                "calico-typha",
                "kube-system",
                replicas=typha_replicas,
                labels={"k8s-app": "calico-typha"},
                container={"image": "registry.example/calico/typha:v3.30.3"},
            )
        )
    return found


def cluster_autoscaler(*flags: str) -> Object:
    """The cluster autoscaler with these flags."""
    return deployment(
        "cluster-autoscaler",
        "kube-system",
        labels={"app": "cluster-autoscaler"},
        container={
            "image": "registry.example/autoscaling/cluster-autoscaler:v1.37.0",
            "command": ["./cluster-autoscaler", "--v=1", *flags],
        },
        priorityClassName="system-cluster-critical",
    )


def agent(name: str, namespace: str, rules: list[Object]) -> list[Object]:
    """A DaemonSet whose service account holds ``rules`` in the whole cluster."""
    return [
        service_account(name, namespace),
        cluster_role(name, rules),
        binding(name, {"kind": "ServiceAccount", "name": name, "namespace": namespace}),
        daemon_set(name, namespace, serviceAccountName=name),
    ]


def service_account(name: str, namespace: str) -> Object:
    """A service account."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace},
    }


def cluster_role(name: str, rules: list[Object]) -> Object:
    """A ClusterRole."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }


def binding(role: str, subject: Object) -> Object:
    """A ClusterRoleBinding named as its role."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role,
        },
        "subjects": [subject],
    }


def anti_affinity(labels: dict[str, str]) -> Object:
    """Required anti-affinity by hostname."""
    return {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": labels}}
            ]
        }
    }


def csi_node(name: str, driver: str, count: int | None) -> Object:
    """What a storage driver registered on a node."""
    allocatable = {} if count is None else {"allocatable": {"count": count}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": [{"name": driver, "nodeID": name, "topologyKeys": [], **allocatable}]},
    }


def attachment(name: str, driver: str, node_name: str) -> Object:
    """A volume on its way to a node."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {
            "attacher": driver,
            "nodeName": node_name,
            "source": {"persistentVolumeName": name},
        },
    }


def claim(name: str, namespace: str) -> Object:
    """A claim that waits for its first consumer, as long as the test lasts."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "not-provisioned",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
