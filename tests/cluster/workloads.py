"""What teams bring to a cluster: web servers, telemetry agents, admission webhooks.

Pure functions that return objects, like `tests.cluster.shapes`, from whose parts they are made.
"""

from typing import Any

from tests.cluster import shapes

Object = dict[str, Any]

# What an agent that enriches its data with pod names asks for, in the whole cluster.
PODS_AND_EVENTS: list[Object] = [
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]}
]


def web_deployment(
    name: str,
    namespace: str,
    replicas: int,
    *,
    anti_affinity: bool = False,
    cpu: str = "100m",
    memory: str = "128Mi",
) -> Object:
    """A web server with requests, a limit and a readiness probe.

    With ``anti_affinity`` no two of its pods share a node (required, by hostname).
    """
    labels = {"app": name}
    more = {"affinity": shapes.anti_affinity(labels)} if anti_affinity else {}
    return shapes.deployment(
        name,
        namespace,
        replicas=replicas,
        labels=labels,
        container={
            "image": f"registry.example/shop/{name}:v1.4.2",
            "ports": [{"name": "http", "containerPort": 8080}],
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
            "resources": {
                "requests": {"cpu": cpu, "memory": memory},
                "limits": {"memory": memory},
            },
        },
        **more,
    )


def telemetry_agent(
    name: str, namespace: str, rules: list[Object] | None = None, *, mebibytes: int = 256
) -> list[Object]:
    """An agent on every node whose service account reads in the whole cluster.

    ``rules`` are RBAC rules; by default it lists and watches pods and events. Its namespace is
    not made here.
    """
    made = shapes.agent(name, namespace, PODS_AND_EVENTS if rules is None else rules)
    agent = made[-1]["spec"]["template"]["spec"]["containers"][0]
    agent["resources"] = {
        "requests": {"cpu": "50m", "memory": f"{mebibytes}Mi"},
        "limits": {"memory": f"{mebibytes}Mi"},
    }
    agent["env"] = [
        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    ]
    return made


def webhook(
    name: str,
    *,
    failure_policy: str = "Ignore",
    timeout_seconds: int = 10,
    resources: tuple[str, ...] = ("pods",),
    operations: tuple[str, ...] = ("CREATE", "UPDATE"),
    namespace: str = "policy",
) -> Object:
    """A validating webhook on a service ``name`` in ``namespace``, neither of which is made here.

    The API server really calls it. With ``failure_policy="Fail"`` and nobody behind the service,
    it refuses everything that matches: load it last, and away from others' tests.
    """
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.policy.example",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": failure_policy,
                "timeoutSeconds": timeout_seconds,
                "matchPolicy": "Equivalent",
                "rules": [
                    {
                        "apiGroups": ["*"],
                        "apiVersions": ["*"],
                        "resources": list(resources),
                        "operations": list(operations),
                        "scope": "*",
                    }
                ],
                "clientConfig": {
                    "service": {"name": name, "namespace": namespace, "path": "/validate"}
                },
            }
        ],
    }
