"""Builds the control plane's binaries from Go modules, once, into a cache outside the tree.

``python -m tests.cluster.build`` builds ahead of time. Six minutes on two cores when nothing is
cached; half a minute when Go's own cache is warm.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = Path(__file__).resolve().parent
# The oldest minor that is tested has a module of its own: it wants an older etcd.
OLDER = MODULE / "older"
FROM_OLDER = frozenset({"kube-apiserver", "etcd", "kube-scheduler", "kube-controller-manager"})
PROGRAMS = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "keys": "./keys",
}
STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
)


class ControlPlaneUnavailable(RuntimeError):
    """No control plane can be had here; the message is one sentence that says why."""


def module_of(program: str) -> Path:
    """The Go module that a program is built from; KAUDITOR_TEST_OLDER chooses the older one."""
    older = bool(os.environ.get("KAUDITOR_TEST_OLDER"))
    return OLDER if older and program in FROM_OLDER else MODULE


def kubernetes_version() -> str:
    """As "v1.37.2", what the go.mod in use asks for."""
    text = (module_of("kube-apiserver") / "go.mod").read_text()
    match = re.search(r"k8s\.io/kubernetes (v[\d.]+)", text)
    assert match is not None
    return match.group(1)


def ensure_binaries() -> Path:
    """The folder of the binaries and of kwok's stages, built first where it is not there.

    Raises:
        ControlPlaneUnavailable: Go is missing, or the build fails.
    """
    if shutil.which("go") is None:
        raise ControlPlaneUnavailable("Go is not installed, and KAUDITOR_TEST_KUBECONFIG is unset")
    folder = _cache() / _key()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "lock", "w") as lock:
        # Two test runs at once must not build twice.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _build(folder)
    return folder


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    ours = os.environ.get("KAUDITOR_TEST_CACHE") or os.path.join(home, "kauditor")
    return Path(ours) / "control-plane"


def _key() -> str:
    files = [MODULE / "go.mod", MODULE / "go.sum", MODULE / "keys" / "main.go"]
    if module_of("kube-apiserver") == OLDER:
        files += [OLDER / "go.mod", OLDER / "go.sum"]
    parts = [file.read_bytes() for file in files]
    parts += [_go("version").encode(), _flags().encode(), repr(sorted(PROGRAMS)).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _flags() -> str:
    version = kubernetes_version()
    _, minor, _ = version.split(".")
    package = "k8s.io/component-base/version"
    # Without these /version, and with it every node's skew, would be wrong.
    return (
        f"-s -w -X {package}.gitVersion={version} -X {package}.gitMajor=1 "
        f"-X {package}.gitMinor={minor}"
    )


def _build(folder: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=folder.name, dir=folder.parent))
    try:
        for name, package in PROGRAMS.items():
            print(f"building {name} (once)", file=sys.stderr, flush=True)
            _go(
                "build",
                "-trimpath",
                "-buildvcs=false",
                "-ldflags",
                _flags(),
                "-o",
                str(aside / name),
                package,
                module=module_of(name),
            )
        kwok = Path(_go("list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok").strip())
        # kwok has no stages built in.
        stages = [(kwok / "kustomize" / "stage" / stage).read_text() for stage in STAGES]
        (aside / "stages.yaml").write_text("\n---\n".join(stages))
        os.rename(aside, folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _go(*words: str, module: Path = MODULE) -> str:
    run = subprocess.run(
        ["go", *words],
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": ""},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        tail = " / ".join(run.stderr.strip().splitlines()[-3:])
        raise ControlPlaneUnavailable(f"go {words[0]} failed: {tail}")
    return run.stdout


if __name__ == "__main__":
    print(ensure_binaries())
