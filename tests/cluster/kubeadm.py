"""The command lines and the configuration that kubeadm 1.37 writes for a stacked control plane.

Taken from what ``kubeadm init`` and ``kubeadm join --control-plane`` put into their manifests, all
defaults included. What kubeadm leaves to a component's own default is absent here too: etcd has no
``--quota-backend-bytes``, the API server no ``--etcd-servers-overrides``, the scheduler and the
controller-manager no ``--kube-api-qps``.
"""

PKI = "/etc/kubernetes/pki"
SERVICES = "10.96.0.0/12"
# requestheader flags of the API server: which proxies it believes, and by which headers.
FRONT_PROXY = {
    "requestheader-allowed-names": "front-proxy-client",
    "requestheader-client-ca-file": f"{PKI}/front-proxy-ca.crt",
    "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    "requestheader-group-headers": "X-Remote-Group",
    "requestheader-username-headers": "X-Remote-User",
    "proxy-client-cert-file": f"{PKI}/front-proxy-client.crt",
    "proxy-client-key-file": f"{PKI}/front-proxy-client.key",
}
CPU_REQUESTS = {
    "etcd": "100m",
    "kube-apiserver": "250m",
    "kube-controller-manager": "200m",
    "kube-scheduler": "100m",
}


def etcd_flags(number: int, members: dict[str, str]) -> dict[str, str]:
    """Flags of the etcd member with this number.

    ``members`` maps each node's name to its address, in the order in which they joined. The first
    one was started alone, and its manifest still says so; each later one knows those before it.
    """
    names = list(members)
    name, address = names[number], members[names[number]]
    known = names[: number + 1]
    flags = {
        "advertise-client-urls": f"https://{address}:2379",
        "cert-file": f"{PKI}/etcd/server.crt",
        "client-cert-auth": "true",
        "data-dir": "/var/lib/etcd",
        "feature-gates": "InitialCorruptCheck=true",
        "initial-advertise-peer-urls": f"https://{address}:2380",
        "initial-cluster": ",".join(f"{one}=https://{members[one]}:2380" for one in known),
        "key-file": f"{PKI}/etcd/server.key",
        "listen-client-urls": f"https://127.0.0.1:2379,https://{address}:2379",
        "listen-metrics-urls": "http://127.0.0.1:2381",
        "listen-peer-urls": f"https://{address}:2380",
        "name": name,
        "peer-cert-file": f"{PKI}/etcd/peer.crt",
        "peer-client-cert-auth": "true",
        "peer-key-file": f"{PKI}/etcd/peer.key",
        "peer-trusted-ca-file": f"{PKI}/etcd/ca.crt",
        "snapshot-count": "10000",
        "trusted-ca-file": f"{PKI}/etcd/ca.crt",
        "watch-progress-notify-interval": "5s",
    }
    if number:
        flags["initial-cluster-state"] = "existing"
    return flags


def api_server_flags(address: str) -> dict[str, str]:
    """Flags of the API server on the node with this address."""
    return {
        "advertise-address": address,
        "allow-privileged": "true",
        "authorization-mode": "Node,RBAC",
        "client-ca-file": f"{PKI}/ca.crt",
        "enable-admission-plugins": "NodeRestriction",
        "enable-bootstrap-token-auth": "true",
        "etcd-cafile": f"{PKI}/etcd/ca.crt",
        "etcd-certfile": f"{PKI}/apiserver-etcd-client.crt",
        "etcd-keyfile": f"{PKI}/apiserver-etcd-client.key",
        "etcd-servers": "https://127.0.0.1:2379",
        "kubelet-client-certificate": f"{PKI}/apiserver-kubelet-client.crt",
        "kubelet-client-key": f"{PKI}/apiserver-kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname",
        "secure-port": "6443",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": f"{PKI}/sa.pub",
        "service-account-signing-key-file": f"{PKI}/sa.key",
        "service-cluster-ip-range": SERVICES,
        "tls-cert-file": f"{PKI}/apiserver.crt",
        "tls-private-key-file": f"{PKI}/apiserver.key",
        **FRONT_PROXY,
    }


def controller_manager_flags(cluster_cidr: str) -> dict[str, str]:
    """Flags of the controller-manager; without a pod subnet kubeadm sets no allocation flags."""
    config = "/etc/kubernetes/controller-manager.conf"
    allocation = {
        "allocate-node-cidrs": "true",
        "cluster-cidr": cluster_cidr,
        "service-cluster-ip-range": SERVICES,
    }
    return {
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "client-ca-file": f"{PKI}/ca.crt",
        "cluster-name": "kubernetes",
        "cluster-signing-cert-file": f"{PKI}/ca.crt",
        "cluster-signing-key-file": f"{PKI}/ca.key",
        "controllers": "*,bootstrapsigner,tokencleaner",
        "kubeconfig": config,
        "leader-elect": "true",
        "requestheader-client-ca-file": f"{PKI}/front-proxy-ca.crt",
        "root-ca-file": f"{PKI}/ca.crt",
        "service-account-private-key-file": f"{PKI}/sa.key",
        "use-service-account-credentials": "true",
        **(allocation if cluster_cidr else {}),
    }


def scheduler_flags() -> dict[str, str]:
    """Flags of the scheduler."""
    config = "/etc/kubernetes/scheduler.conf"
    return {
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "kubeconfig": config,
        "leader-elect": "true",
    }
