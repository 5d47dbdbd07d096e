"""``kauditor collect``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import Sentence, exits

HELP = """Read a cluster now and judge it elsewhere: writes a snapshot for scan --from.

\b
Examples:
  kauditor collect -o snapshot.json
  kauditor scan --from snapshot.json -o html=report.html
"""


@exits
def collect(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")
    ],
    kubeconfig: flags.Kubeconfig = None,
    context: flags.Context = None,
    cluster: flags.ClusterName = None,
    user: flags.User = None,
    namespace: flags.Namespace = None,
    all_namespaces: flags.AllNamespaces = False,
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
    disable_compression: flags.DisableCompression = False,
    timeout: flags.Timeout = None,
    qps: flags.Qps = 5.0,
    burst: flags.Burst = 10,
    max_inflight: flags.MaxInflight = 2,
    gentle: flags.Gentle = False,
    only: flags.Only = None,
    skip: flags.Skip = None,
    checks: flags.Checks = None,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = 0,
    debug: flags.Debug = None,
    color: flags.Color = "auto",
) -> int:
    """Read what the checks ask for, and write it."""
    from kauditor import __version__
    from kauditor import scan as corridor
    from kauditor.cli import session
    from kauditor.cli.outputs import check_writable, write_private
    from kauditor.model.fact import Unknown
    from kauditor.model.snapshot import encode

    given = {name: value for name, value in locals().items() if name in session.CONNECTION}
    if namespace and all_namespaces:
        raise Sentence("-n and -A contradict each other; give one of them.")
    if output != "-":
        check_writable(Path(output))
    session.show_log(verbose, debug)
    chosen = session.choose_checks(checks, only, skip)
    source = session.open_cluster(session.connection_options(given))
    progress = session.make_progress(quiet, color)
    try:
        snapshot = corridor.read(
            source,
            chosen,
            version=__version__,
            taken=session.now(),
            namespace=namespace or "",
            progress=progress,
        )
    finally:
        if progress is not None:
            progress.close()
    document = encode(snapshot)
    if output == "-":
        sys.stdout.write(document.decode())
        return 0
    write_private(Path(output), document)
    if not quiet:
        holes = sum(isinstance(fact, Unknown) for fact in snapshot.facts.values())
        unread = f", {holes} of {len(snapshot.facts)} facts unknown" if holes else ""
        print(f"wrote {output}{unread}", file=sys.stderr)
    return 0
