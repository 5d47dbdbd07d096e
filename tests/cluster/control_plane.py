"""A real control plane on loopback: etcd, API server, controller-manager, scheduler, kwok.

Every program is an ordinary child process with a data folder of its own, ended by process id.
Nothing of a run is left behind, and nothing of an earlier run is trusted.
"""

import atexit
import contextlib
import ctypes
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.cluster.build import ensure_binaries
from tests.cluster.client import Client

READY_SECONDS = 90.0
PREFIX = "kauditor-control-plane-"
# Below the kernel's range for outgoing connections, which could take a port that was just free.
PORTS = range(20000, 32000)
LIBC = ctypes.CDLL(None)
ALL = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
# Tokens of a server that lives for minutes on loopback; they open nothing else.
USERS = {"admin": "admin-token", "auditor": "auditor-token", "nobody": "nobody-token"}

AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
"""


class ControlPlane:
    """Starts in `start` (or as a context manager), ends in `stop`.

    Linux ends the programs when the thread that started them ends, however that comes about; so
    start it from a thread that lives as long as the control plane shall.

    ``components`` may leave out programs from the end of the list. ``api_flags`` are added to
    the API server's. ``cluster_cidr`` and ``node_mask`` make the controller-manager hand out real
    pod blocks, and really run out of them.
    """

    def __init__(
        self,
        *,
        components: tuple[str, ...] = ALL,
        emulated_version: str | None = None,
        api_flags: tuple[str, ...] = (),
        cluster_cidr: str = "10.128.0.0/12",
        node_mask: int = 24,
        quota_bytes: int = 8 * 2**30,
    ) -> None:
        self.components = components
        self.emulated_version = emulated_version
        self.api_flags = api_flags
        self.cluster_cidr = cluster_cidr
        self.node_mask = node_mask
        self.quota_bytes = quota_bytes
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.folder = Path()
        self.server = ""
        self.etcd_url = ""

    def __enter__(self) -> "ControlPlane":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start every component and wait until each is ready; raises with the tail of a log."""
        self.binaries = ensure_binaries()
        sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        # Held as long as this process lives: a folder with a free lock was left by a killed run.
        self.lock = open(self.folder / "lock", "w")  # noqa: SIM115
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        atexit.register(self.stop)
        try:
            subprocess.run([self.binaries / "keys", self.folder], check=True)
            self._write_files()
            self._start_etcd()
            if "kube-apiserver" in self.components:
                self._start_api_server()
            if "kube-controller-manager" in self.components:
                self._start_controller_manager()
            if "kube-scheduler" in self.components:
                self._start_scheduler()
            if "kwok" in self.components:
                self._start_kwok()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes, those that depend on others first, and remove the data."""
        # The data is thrown away, so nothing gains from a graceful end of ten seconds.
        for process in reversed(list(self.processes.values())):
            process.kill()
            process.wait()
        self.processes.clear()
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.lock.close()
        atexit.unregister(self.stop)

    def client(self, user: str = "admin") -> Client:
        """A client as one of the three users."""
        return Client(self.server, str(self.ca_file), USERS[user])

    @property
    def ca_file(self) -> Path:
        """The certificate that the API server's is signed by."""
        return self.folder / "ca.crt"

    @property
    def audit_log(self) -> Path:
        """One JSON object a line: every request that was answered, at level Metadata."""
        return self.folder / "audit.log"

    def audit_events(self, user: str = "") -> list[dict[str, Any]]:
        """The audit log so far, of one user or of all; oldest first.

        The server writes an event just after its answer has gone out: wait for the last one.
        """
        if not self.audit_log.exists():
            return []
        named = f'"username":"{user}"'.encode() if user else b""
        with open(self.audit_log, "rb") as log:
            # The last line may be half written.
            lines = [line for line in log if line.endswith(b"\n") and named in line]
        events = [json.loads(line) for line in lines]
        return [event for event in events if not user or event["user"]["username"] == user]

    def kubeconfig(self, user: str = "admin") -> Path:
        """A kubeconfig of mode 0600 for one of the users; its context is ``kauditor-test``."""
        file = self.folder / f"kubeconfig-{user}.json"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "kauditor-test",
            "contexts": [
                {"name": "kauditor-test", "context": {"cluster": "kauditor-test", "user": user}}
            ],
            "clusters": [
                {
                    "name": "kauditor-test",
                    "cluster": {"server": self.server, "certificate-authority": str(self.ca_file)},
                }
            ],
            "users": [{"name": user, "user": {"token": USERS.get(user, f"{user}-token")}}],
        }
        file.write_text(json.dumps(config))
        file.chmod(0o600)
        return file

    def _write_files(self) -> None:
        lines = [
            f'{USERS["admin"]},admin,1,"system:masters"',
            f"{USERS['auditor']},auditor,2",
            f"{USERS['nobody']},nobody,3",
            "scheduler-token,system:kube-scheduler,4",
            # Without service-account credentials it acts for every controller itself.
            'controller-manager-token,system:kube-controller-manager,5,"system:masters"',
            'kwok-token,kwok,6,"system:masters"',
        ]
        (self.folder / "tokens.csv").write_text("\n".join(lines) + "\n")
        (self.folder / "audit-policy.yaml").write_text(AUDIT_POLICY)

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
        self.etcd_url = client
        self._run(
            "etcd",
            {
                "data-dir": self.folder / "etcd",
                "listen-client-urls": client,
                "advertise-client-urls": client,
                "listen-peer-urls": peer,
                "initial-advertise-peer-urls": peer,
                "initial-cluster": f"default={peer}",
                "quota-backend-bytes": self.quota_bytes,
                "unsafe-no-fsync": "true",
                "log-level": "warn",
            },
        )
        self._wait("etcd", lambda: Client(client, None, "").status("/health") == 200)

    def _start_api_server(self) -> None:
        (port,) = free_ports(1)
        self.server = f"https://127.0.0.1:{port}"
        flags: dict[str, Any] = {
            "etcd-servers": self.etcd_url,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            # Otherwise loopback is refused as an endpoint of the kubernetes service.
            "endpoint-reconciler-type": "none",
            "secure-port": port,
            "tls-cert-file": self.folder / "server.crt",
            "tls-private-key-file": self.folder / "server.key",
            "client-ca-file": self.folder / "ca.crt",
            "requestheader-client-ca-file": self.folder / "front-proxy-ca.crt",
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self.folder / "sa.pub",
            "service-account-signing-key-file": self.folder / "sa.key",
            "service-cluster-ip-range": "10.96.0.0/16",
            "authorization-mode": "Node,RBAC",
            "token-auth-file": self.folder / "tokens.csv",
            # Pods would wait for service accounts' tokens that nobody mounts.
            "disable-admission-plugins": "ServiceAccount",
            "audit-policy-file": self.folder / "audit-policy.yaml",
            "audit-log-path": self.audit_log,
            "max-requests-inflight": 1600,
            "max-mutating-requests-inflight": 800,
            "allow-privileged": "true",
            "v": 1,
        }
        if self.emulated_version:
            flags["emulated-version"] = self.emulated_version
        self._run("kube-apiserver", flags, *self.api_flags)
        self._wait("kube-apiserver", lambda: self.client().status("/readyz") == 200)

    def _start_controller_manager(self) -> None:
        config = self._component_config("controller-manager")
        (port,) = free_ports(1)
        self._run(
            "kube-controller-manager",
            {
                "kubeconfig": config,
                "authentication-kubeconfig": config,
                "authorization-kubeconfig": config,
                "bind-address": "127.0.0.1",
                "secure-port": port,
                "cert-dir": self.folder / "controller-manager",
                "leader-elect": "false",
                "allocate-node-cidrs": "true",
                "cluster-cidr": self.cluster_cidr,
                "node-cidr-mask-size": self.node_mask,
                "service-cluster-ip-range": "10.96.0.0/16",
                "service-account-private-key-file": self.folder / "sa.key",
                "root-ca-file": self.ca_file,
                "kube-api-qps": 600,
                "kube-api-burst": 900,
                "concurrent-deployment-syncs": 20,
                "concurrent-replicaset-syncs": 20,
                "concurrent-service-endpoint-syncs": 20,
                "mirroring-concurrent-service-endpoint-syncs": 1,
                "concurrent-daemonset-syncs": 10,
                "v": 1,
            },
        )
        self._wait("kube-controller-manager", lambda: _answers(port))

    def _start_scheduler(self) -> None:
        config = self._component_config("scheduler")
        (port,) = free_ports(1)
        self._run(
            "kube-scheduler",
            {
                "kubeconfig": config,
                "authentication-kubeconfig": config,
                "authorization-kubeconfig": config,
                "bind-address": "127.0.0.1",
                "secure-port": port,
                "cert-dir": self.folder / "scheduler",
                "leader-elect": "false",
                "kube-api-qps": 600,
                "kube-api-burst": 900,
                "v": 1,
            },
        )
        self._wait("kube-scheduler", lambda: _answers(port))

    def _start_kwok(self) -> None:
        (port,) = free_ports(1)
        self._run(
            "kwok",
            {
                "kubeconfig": self.kubeconfig("kwok"),
                "config": self.binaries / "stages.yaml",
                "manage-all-nodes": "true",
                # Above 40 the controller-manager's grace of 50 s turns nodes NotReady in between.
                "node-lease-duration-seconds": 40,
                "server-address": f"127.0.0.1:{port}",
                "node-ip": "127.0.0.1",
            },
        )
        self._wait("kwok", lambda: _answers(port))

    def _component_config(self, name: str) -> Path:
        return self.kubeconfig(name)

    def _run(self, name: str, flags: Mapping[str, Any], *more: str) -> None:
        words = [f"--{flag}={value}" for flag, value in flags.items()]
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen(
                [self.binaries / name, *words, *more],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                preexec_fn=_end_with_parent,
            )

    def _wait(self, name: str, ready: Any) -> None:
        deadline = time.monotonic() + READY_SECONDS
        process = self.processes[name]
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended with {process.returncode}:\n{self._tail(name)}")
            with contextlib.suppress(Exception):
                if ready():
                    return
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not get ready:\n{self._tail(name)}")

    def _tail(self, name: str) -> str:
        lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-15:])


def free_ports(count: int) -> Iterator[int]:
    """Ports of loopback that nobody listens on just now."""
    found: list[int] = []
    while len(found) < count:
        port = random.choice(PORTS)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            if port not in found:
                found.append(port)
    return iter(found)


def sweep() -> None:
    """Remove the folders of runs that were killed, by the lock that nobody holds any more."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/lock"):
        with contextlib.suppress(OSError), open(lock) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A newborn folder is not locked yet for an instant.
            if time.time() - lock.stat().st_mtime > 60:
                shutil.rmtree(lock.parent, ignore_errors=True)


def _answers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 1):
        return True


def _end_with_parent() -> None:
    # Ctrl-C is for the test run alone; it ends its servers itself.
    os.setpgid(0, 0)
    # A test run that is killed takes its servers along (PR_SET_PDEATHSIG); other systems lack it.
    with contextlib.suppress(OSError, AttributeError):
        LIBC.prctl(1, signal.SIGKILL)
