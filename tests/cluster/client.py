"""A small client for tests: any kind by its apiVersion and kind, through the API's own discovery."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

Object = dict[str, Any]
CONNECTIONS = 16
# What others depend on comes first.
FIRST = ("Namespace", "CustomResourceDefinition", "PriorityClass", "ServiceAccount", "Node")


class ApiError(RuntimeError):
    """The server said no; ``status`` is the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text[:500]}")
        self.status = status


class Client:
    """Talks to one server as one user."""

    def __init__(
        self,
        server: str,
        ca_file: str | None,
        token: str,
        certificate: tuple[str, str] | None = None,
    ) -> None:
        """Speaks with a bearer token, or with a client certificate's file and its key's."""
        cert_file, key_file = certificate or (None, None)
        self.server = server
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.pool = urllib3.PoolManager(
            num_pools=2,
            maxsize=CONNECTIONS,
            block=True,
            ca_certs=ca_file,
            cert_file=cert_file,
            key_file=key_file,
            retries=False,
        )
        self.plurals: dict[str, dict[str, tuple[str, bool]]] = {}
        self.lock = threading.Lock()

    def status(self, path: str) -> int:
        """The HTTP status of a GET."""
        return self.pool.request("GET", self.server + path, headers=self.headers, timeout=5).status

    def request(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> Any:
        """One call; the decoded answer. Retries 429 and 5xx for a while. Raises `ApiError`."""
        headers = {**self.headers, "Content-Type": content_type}
        data = None if body is None else json.dumps(body)
        for attempt in range(40):
            answer = self.pool.request(
                method, self.server + path, body=data, headers=headers, timeout=60
            )
            if answer.status != 429 and answer.status < 500:
                break
            time.sleep(min(0.1 * 2**attempt, 2.0))
        if answer.status >= 400:
            raise ApiError(answer.status, answer.data.decode(errors="replace"))
        if "json" in answer.headers.get("Content-Type", ""):
            return json.loads(answer.data)
        return answer.data.decode()

    def get(self, path: str) -> Any:
        """GET."""
        return self.request("GET", path)

    def path_of(self, one: Object, *, named: bool) -> str:
        """The URL path of an object, or of its collection."""
        version, kind = one["apiVersion"], one["kind"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        with self.lock:
            if kind not in self.plurals.get(version, {}):
                found = self.get(root)["resources"]
                self.plurals[version] = {
                    entry["kind"]: (entry["name"], entry["namespaced"])
                    for entry in found
                    if "/" not in entry["name"]
                }
            plural, namespaced = self.plurals[version][kind]
        meta = one["metadata"]
        scope = f"/namespaces/{meta.get('namespace', 'default')}" if namespaced else ""
        return f"{root}{scope}/{plural}" + (f"/{meta['name']}" if named else "")

    def create(self, one: Object) -> Object:
        """Create the object, or replace its spec where it is there; set its status if given."""
        try:
            made = self.request("POST", self.path_of(one, named=False), one)
        except ApiError as error:
            if error.status != 409:
                raise
            made = self._replace(one)
        if one.get("status"):
            # The server drops status on create; nodes, volumes and workloads have a door for it.
            made = self.request(
                "PATCH",
                self.path_of(one, named=True) + "/status",
                {"status": one["status"]},
                "application/merge-patch+json",
            )
        result: Object = made
        return result

    def _replace(self, one: Object) -> Any:
        path = self.path_of(one, named=True)
        for _ in range(10):
            held = self.get(path)
            merged = {**one, "metadata": {**one["metadata"], **_kept(held["metadata"])}}
            try:
                return self.request("PUT", path, merged)
            except ApiError as error:
                # A controller was quicker.
                if error.status != 409:
                    raise
        raise TimeoutError(f"others keep changing {path}")

    def delete(self, one: Object) -> None:
        """Delete the object at once; fine where it is gone already."""
        try:
            self.request("DELETE", self.path_of(one, named=True), {"gracePeriodSeconds": 0})
        except ApiError as error:
            if error.status != 404:
                raise

    def patch(self, one: Object, change: Object) -> None:
        """Merge a change into an object."""
        self.request("PATCH", self.path_of(one, named=True), change, "application/merge-patch+json")

    def apply(self, objects: Iterable[Object]) -> None:
        """Create many, over 16 connections, in an order in which they can be."""
        every = list(objects)
        early = [one for kind in FIRST for one in every if one["kind"] == kind]
        crds = [one for one in early if one["kind"] == "CustomResourceDefinition"]
        late = [one for one in every if one["kind"] not in FIRST]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self.create, (one for one in early if one["kind"] == "Namespace")))
            list(pool.map(self.create, (one for one in early if one["kind"] != "Namespace")))
            if crds:
                wait_until(lambda: all(self._established(crd) for crd in crds), 30, "CRDs served")
                self.plurals.clear()
            list(pool.map(self.create, late))

    def _established(self, crd: Object) -> bool:
        conditions = self.get(self.path_of(crd, named=True)).get("status", {}).get("conditions", [])
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    def items(self, path: str) -> list[Object]:
        """A whole list, page by page."""
        found: list[Object] = []
        token = ""
        while True:
            more = f"&continue={token}" if token else ""
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=500{more}")
            found += page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return found


def _kept(meta: Object) -> Object:
    return {key: meta[key] for key in ("resourceVersion", "uid") if key in meta}


def wait_until(true: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for something to become true; raises TimeoutError that names it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return
        time.sleep(0.25)
    raise TimeoutError(f"waited {seconds:g} s in vain: {what}")
