"""etcd's quota: set, defaulted, stated, or assumed from what the provider publishes."""

from kauditor.facts.control_plane import ControlPlane, flag_origin
from kauditor.facts.provider import Provider
from kauditor.facts.stated import Stated
from kauditor.model.fact import Fact, Origin, Seen, Unknown, Why, derives

GIB = 2**30
FLAG = "quota-backend-bytes"
DEFAULT_QUOTA = 2 * GIB
# Published quotas where the provider keeps etcd [EKSQUOTA], [AKSBIG]; GKE publishes none.
# OpenShift's operator always sets 8 GiB [OCPETCD].
ASSUMED = {"eks": 8 * GIB, "aks": 8 * 10**9, "openshift": 8 * GIB}


class EtcdQuota(Fact, frozen=True, kw_only=True):
    """``configured`` is false where etcd's default holds; ``assumed_of`` names a provider."""

    quota_bytes: float
    configured: bool
    assumed_of: str = ""


@derives
def etcd_quota(
    stated: Stated, plane: ControlPlane | Unknown, provider: Provider | Unknown
) -> EtcdQuota | Unknown:
    """Stated, else the smallest of the members' flags, else the provider's published one."""
    if stated.etcd_quota_bytes is not None:
        return EtcdQuota(
            quota_bytes=stated.etcd_quota_bytes,
            configured=True,
            origin=Origin("[facts.etcd] quota-bytes", Seen.STATED),
        )
    members = plane if isinstance(plane, Unknown) else plane.component("etcd")
    if not isinstance(members, Unknown):
        smallest = min(members, key=lambda pod: _bytes(pod.flags.get(FLAG, "")))
        flag = smallest.flags.get(FLAG, "")
        return EtcdQuota(
            quota_bytes=_bytes(flag),
            configured=flag not in ("", "0"),
            origin=flag_origin(smallest, FLAG),
        )
    name = provider.name if isinstance(provider, Provider) else ""
    hidden = members.why in (Why.MANAGED, Why.NOT_IN_API)
    if hidden and name in ASSUMED:
        return EtcdQuota(
            quota_bytes=ASSUMED[name],
            configured=True,
            assumed_of=name,
            origin=Origin(f"published envelope of {name}", Seen.ASSUMED),
        )
    return members


def _bytes(flag: str) -> float:
    # etcd reads 0 as "use the default".
    return float(flag) if flag.isdigit() and int(flag) else DEFAULT_QUOTA
