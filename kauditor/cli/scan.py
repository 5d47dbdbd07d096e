"""``kauditor scan``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import NOT_SCANNED, OK, Sentence, exits, foremost

if TYPE_CHECKING:
    from kauditor.model.snapshot import Snapshot

HELP = """Audit a cluster: what breaks first on the way to the target, and what to do.

\b
Examples:
  kauditor scan --demo
  kauditor scan --target-nodes 5000
  kauditor scan --context prod -o html=report.html -o json=report.json
  kauditor scan --min-limit 3000 --min-score 70 --fail-on critical
  kauditor scan --baseline last.json --fail-on-new --fail-on-worse
  kauditor scan --from snapshot.json
"""


@exits
def scan(
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
    target_nodes: flags.TargetNodes = None,
    only: flags.Only = None,
    skip: flags.Skip = None,
    checks: flags.Checks = None,
    config: flags.Config = None,
    min_limit: flags.MinLimit = None,
    min_score: flags.MinScore = None,
    min_area_score: flags.MinAreaScore = None,
    fail_on: flags.FailOn = None,
    min_coverage: flags.MinCoverage = None,
    fail_on_new: flags.FailOnNew = False,
    fail_on_worse: flags.FailOnWorse = False,
    baseline: flags.Baseline = None,
    exit_zero: flags.ExitZero = False,
    no_waivers: flags.NoWaivers = False,
    output: flags.Outputs = None,
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="Judge a snapshot of `kauditor collect` instead."
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Judge the snapshot that comes with kauditor.")
    ] = False,
    show_all: flags.ShowAll = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = 0,
    debug: flags.Debug = None,
    color: flags.Color = "auto",
    ascii_only: flags.Ascii = False,
) -> int:
    """Read or replay, judge, write, and give the gate's exit status."""
    from kauditor import __version__, packs
    from kauditor import scan as corridor
    from kauditor.cli import asked, session
    from kauditor.cli.outputs import parse_outputs, write_outputs
    from kauditor.cli.streams import COLORS, needs_ascii, wants_color, width_of
    from kauditor.render import RenderOptions, gate_line
    from kauditor.settings import BadSettings, GateSettings, variable

    words = locals()
    given = {name: value for name, value in words.items() if name in session.CONNECTION}
    if color not in COLORS:
        raise Sentence(f"--color {color}: write {', '.join(COLORS)}.")
    if namespace and all_namespaces:
        raise Sentence("-n and -A contradict each other; give one of them.")
    if from_file and demo:
        raise Sentence("--from and --demo contradict each other; give one of them.")
    outputs = parse_outputs(output or [])
    session.show_log(verbose, debug)
    loaded = session.load_settings(config)
    asks = asked.asked(words, loaded)
    named = asks.gate.baseline if asks.gate else None
    # What is named here is read now, not after minutes of scanning.
    known = asked.read_report(named, "--baseline ") if named else None
    chosen = session.choose_checks(checks, only, skip)
    try:
        every = packs.load([Path(folder) for folder in checks or []])
        corridor.check_names(every, loaded.settings)
        corridor.options_of(every, loaded.settings)
        if from_file or demo:
            snapshot = _replayed(from_file)
        else:
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
        where, note = snapshot.where, ""
        if known is None:
            known, note = asked.baseline_of(asks, loaded, where.context or where.name)
        report = corridor.judge(
            snapshot,
            corridor.Request(
                checks=chosen,
                settings=loaded.settings,
                policy=corridor.policy_of(asks.gate or GateSettings(), exit_zero=exit_zero),
                target_nodes=asks.target_nodes,
                target_source="--target-nodes" if target_nodes else variable("target-nodes"),
                waivers=not no_waivers,
                baseline=known,
                version=__version__,
            ),
        )
    except BadSettings as error:
        place = f"{loaded.file}: " if loaded.file else ""
        raise Sentence(f"{place}{error}") from error
    unwritten = None
    try:
        write_outputs(
            report,
            outputs,
            RenderOptions(
                width=width_of(sys.stdout),
                color=wants_color(sys.stdout, color),
                ascii=ascii_only or needs_ascii(sys.stdout),
                show_all=show_all,
                verbose=verbose,
            ),
            sys.stdout,
        )
    except Sentence as problem:
        unwritten = problem
    if not quiet:
        for line in (*report.notes, *([note] if note else [])):
            print(f"kauditor: {line}", file=sys.stderr)
        for one in outputs:
            if one.path is not None and unwritten is None:
                print(f"wrote {one.path}", file=sys.stderr)
        if report.gate.conditions:
            sys.stdout.flush()
            print(gate_line(report), file=sys.stderr)
    cut_short = snapshot.cost.cut_short and not (from_file or demo)
    if cut_short:
        print("kauditor: the time for the scan was over; the report is partial.", file=sys.stderr)
    status = foremost(report.gate.exit, NOT_SCANNED if cut_short else OK)
    if unwritten is not None:
        raise Sentence(str(unwritten), foremost(status, unwritten.status))
    return status


def _replayed(from_file: str | None) -> "Snapshot":
    """The snapshot of a file, or the one that comes along."""
    from kauditor.demo import demo_snapshot
    from kauditor.model.snapshot import BadSnapshot, decode

    if from_file is None:
        return demo_snapshot()
    try:
        return decode(Path(from_file).read_bytes())
    except OSError as error:
        raise Sentence(f"--from {from_file}: {error.strerror or error}.") from error
    except BadSnapshot as error:
        raise Sentence(f"--from {from_file}: {error}.") from error
