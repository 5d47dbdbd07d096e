"""A cluster that stands already, named by KAUDITOR_TEST_KUBECONFIG, with a control plane's face.

It has no audit log that we can read and no users but the kubeconfig's own. Nothing is started or
stopped, and tests must leave it as they found it.
"""

from pathlib import Path
from typing import Any

from tests.cluster.client import Client


class NotOurs(RuntimeError):
    """Only a server of our own can do this; the message says what."""


class GivenCluster:
    """The cluster of a kubeconfig's current context, as that context's user ("admin" here)."""

    def __init__(self, kubeconfig: Path) -> None:
        # The official client resolves every way to log in, commands that print tokens included.
        from kubernetes import client, config

        self._kubeconfig = kubeconfig
        settings: Any = client.Configuration()
        load: Any = config.load_kube_config
        load(str(kubeconfig), client_configuration=settings)
        self.server = str(settings.host).rstrip("/")
        self.ca_file = settings.ssl_ca_cert
        self._token = (settings.get_api_key_with_prefix("authorization") or "").removeprefix(
            "Bearer "
        )
        self._certificate = (settings.cert_file, settings.key_file) if settings.cert_file else None

    def client(self, user: str = "admin") -> Client:
        """A client as the kubeconfig's user. Raises `NotOurs` for any other."""
        self._only_admin(user)
        return Client(self.server, self.ca_file, self._token, self._certificate)

    def kubeconfig(self, user: str = "admin") -> Path:
        """The kubeconfig itself. Raises `NotOurs` for any other user."""
        self._only_admin(user)
        return self._kubeconfig

    def audit_events(self, user: str = "") -> list[dict[str, Any]]:
        """Raises `NotOurs`: its audit log is not ours to read."""
        raise NotOurs("needs the API server's audit log")

    def _only_admin(self, user: str) -> None:
        if user != "admin":
            raise NotOurs(f"needs a server that knows the user {user}")
