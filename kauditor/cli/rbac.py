"""``kauditor rbac``: the least role for the chosen checks."""

from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import GATE_FAILED, Sentence, exits

HELP = """Print the least ClusterRole that the chosen checks need; --check asks what is missing.

\b
Examples:
  kauditor rbac | kubectl apply -f -
  kauditor rbac --check --context prod
"""


@exits
def rbac(
    kubeconfig: flags.Kubeconfig = None,
    context: flags.Context = None,
    cluster: flags.ClusterName = None,
    user: flags.User = None,
    server: flags.Server = None,
    as_user: flags.AsUser = None,
    as_groups: flags.AsGroups = None,
    as_uid: flags.AsUid = None,
    as_user_extra: flags.AsUserExtra = None,
    request_timeout: flags.RequestTimeout = None,
    insecure_skip_tls_verify: flags.Insecure = False,
    certificate_authority: flags.CertificateAuthority = None,
    client_certificate: flags.ClientCertificate = None,
    client_key: flags.ClientKey = None,
    tls_server_name: flags.TlsServerName = None,
    token: flags.Token = None,
    only: flags.Only = None,
    skip: flags.Skip = None,
    checks: flags.Checks = None,
    check: Annotated[
        bool, typer.Option("--check", help="Ask the server which of these rights are missing.")
    ] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help="yaml or json.")
    ] = "yaml",
    name: Annotated[str, typer.Option("--name", help="Name of the ClusterRole.")] = "kauditor",
) -> int:
    """Print the role, or what of it is missing."""
    from kauditor import scan as corridor
    from kauditor.cli import session
    from kauditor.render.rbac import cluster_role

    given = {name: value for name, value in locals().items() if name in session.CONNECTION}
    if output not in ("yaml", "json"):
        raise Sentence(f"-o {output}: write yaml or json.")
    chosen = session.choose_checks(checks, only, skip)
    grants = corridor.grants_of(chosen)
    if not check:
        print(cluster_role(grants, name, output), end="")
        return 0
    defaults = {
        "namespace": None, "disable_compression": False, "timeout": None,
        "qps": 5.0, "burst": 10, "max_inflight": 2, "gentle": False,
    }  # fmt: skip
    source = session.open_cluster(session.connection_options({**defaults, **given}))
    missing = unsure = 0
    for grant in grants:
        allowed = source.may(grant)
        missing += allowed is False
        unsure += allowed is None
        print(f"{'?' if allowed is None else 'yes' if allowed else 'NO':<4} {grant}")
    where = source.where()
    print(f"\n{len(grants)} rights, {missing} missing, {unsure} not answered, as {where.identity}.")
    return GATE_FAILED if missing or unsure else 0
