"""Flags that several commands share, kubectl's under kubectl's names."""

from typing import Annotated, Any

import typer

CONNECTION = "Connection (as kubectl)"
CHOICE = "Checks"
GATE = "Gate"
OUTPUT = "Output"


def _flag(*names: str, panel: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, help=help, metavar=metavar, **more)


Kubeconfig = Annotated[
    str | None, _flag("--kubeconfig", panel=CONNECTION, help="Kubeconfig file.", metavar="FILE")
]
Context = Annotated[
    str | None, _flag("--context", panel=CONNECTION, help="Context to use.", metavar="NAME")
]
ClusterName = Annotated[
    str | None, _flag("--cluster", panel=CONNECTION, help="Cluster to use.", metavar="NAME")
]
User = Annotated[str | None, _flag("--user", panel=CONNECTION, help="User to use.", metavar="NAME")]
Namespace = Annotated[
    str | None,
    _flag(
        "--namespace",
        "-n",
        panel=CONNECTION,
        metavar="NAME",
        help="Read only this namespace: narrows workload checks and lowers coverage.",
    ),
]
AllNamespaces = Annotated[
    bool,
    _flag("--all-namespaces", "-A", panel=CONNECTION, help="All namespaces; this is the default."),
]
Server = Annotated[
    str | None,
    _flag("--server", "-s", panel=CONNECTION, help="Address of the API server.", metavar="URL"),
]
AsUser = Annotated[
    str | None, _flag("--as", panel=CONNECTION, help="User to impersonate.", metavar="NAME")
]
AsGroups = Annotated[
    list[str] | None,
    _flag("--as-group", panel=CONNECTION, help="Group to impersonate; repeatable.", metavar="NAME"),
]
AsUid = Annotated[
    str | None, _flag("--as-uid", panel=CONNECTION, help="UID to impersonate.", metavar="UID")
]
AsUserExtra = Annotated[
    list[str] | None,
    _flag(
        "--as-user-extra",
        panel=CONNECTION,
        metavar="KEY=VALUE",
        help="Extra of the impersonated user; repeatable.",
    ),
]
RequestTimeout = Annotated[
    str | None,
    _flag(
        "--request-timeout",
        panel=CONNECTION,
        metavar="TIME",
        help="Longest wait for one answer: 30s, 2m; 0 for no limit. [default: 65s]",
    ),
]
Insecure = Annotated[
    bool,
    _flag(
        "--insecure-skip-tls-verify",
        panel=CONNECTION,
        help="Do not verify the server's certificate.",
    ),
]
CertificateAuthority = Annotated[
    str | None,
    _flag("--certificate-authority", panel=CONNECTION, help="CA certificate.", metavar="FILE"),
]
ClientCertificate = Annotated[
    str | None,
    _flag("--client-certificate", panel=CONNECTION, help="Client certificate.", metavar="FILE"),
]
ClientKey = Annotated[
    str | None, _flag("--client-key", panel=CONNECTION, help="Client key.", metavar="FILE")
]
TlsServerName = Annotated[
    str | None,
    _flag(
        "--tls-server-name",
        panel=CONNECTION,
        metavar="NAME",
        help="Name to verify the server's certificate against.",
    ),
]
Token = Annotated[
    str | None, _flag("--token", panel=CONNECTION, help="Bearer token.", metavar="TOKEN")
]
DisableCompression = Annotated[
    bool, _flag("--disable-compression", panel=CONNECTION, help="Ask for uncompressed answers.")
]
Timeout = Annotated[
    str | None,
    _flag(
        "--timeout",
        panel=CONNECTION,
        metavar="TIME",
        help="Longest time for the whole scan; what is not read by then is unknown.",
    ),
]
Qps = Annotated[
    float,
    _flag("--qps", panel=CONNECTION, help="Requests a second; 0 for no pacing.", metavar="N"),
]
Burst = Annotated[
    int, _flag("--burst", panel=CONNECTION, help="Requests at once before pacing.", metavar="N")
]
MaxInflight = Annotated[
    int,
    _flag("--max-inflight", panel=CONNECTION, help="Requests at the same time.", metavar="N"),
]
Gentle = Annotated[
    bool, _flag("--gentle", panel=CONNECTION, help="One request at a time, at half the pace.")
]

Only = Annotated[
    list[str] | None,
    _flag(
        "--only",
        panel=CHOICE,
        metavar="CHECK",
        help="Only these checks: id, name or area, wildcards allowed; repeatable.",
    ),
]
Skip = Annotated[
    list[str] | None,
    _flag("--skip", panel=CHOICE, help="Not these checks; repeatable.", metavar="CHECK"),
]
Checks = Annotated[
    list[str] | None,
    _flag("--checks", panel=CHOICE, help="Folder with more checks; repeatable.", metavar="DIR"),
]
TargetNodes = Annotated[
    int | None,
    _flag(
        "--target-nodes",
        panel=CHOICE,
        metavar="N",
        min=1,
        help="Size to check for. [default: twice today's, at least 100 more]",
    ),
]
Config = Annotated[
    str | None,
    _flag(
        "--config",
        panel=CHOICE,
        metavar="FILE",
        help="Settings file. [default: kauditor.toml here or above]",
    ),
]

MinLimit = Annotated[
    int | None,
    _flag(
        "--min-limit",
        panel=GATE,
        metavar="N",
        min=0,
        help="Fail when the first limit is under N nodes.",
    ),
]
MinScore = Annotated[
    int | None,
    _flag(
        "--min-score",
        panel=GATE,
        metavar="N",
        min=0,
        max=100,
        help="Fail when the score is under N.",
    ),
]
MinAreaScore = Annotated[
    list[str] | None,
    _flag(
        "--min-area-score",
        panel=GATE,
        metavar="AREA=N",
        help="Fail when the score of this area is under N; repeatable.",
    ),
]
FailOn = Annotated[
    str | None,
    _flag(
        "--fail-on",
        panel=GATE,
        metavar="SEVERITY",
        help="Fail on a finding this severe or worse: critical, high, medium, low, info.",
    ),
]
MinCoverage = Annotated[
    int | None,
    _flag(
        "--min-coverage",
        panel=GATE,
        metavar="PCT",
        min=0,
        max=100,
        help="Undecided (exit 4) when fewer of the checks were decided.",
    ),
]
FailOnNew = Annotated[
    bool,
    _flag("--fail-on-new", panel=GATE, help="Fail on a finding that the baseline does not hold."),
]
FailOnWorse = Annotated[
    bool,
    _flag(
        "--fail-on-worse",
        panel=GATE,
        help="Fail on a finding worse than in the baseline: a limit that fell by more than 5 %, "
        "a risen severity, a warning that became a failure.",
    ),
]
Baseline = Annotated[
    str | None,
    _flag("--baseline", panel=GATE, metavar="FILE", help="An earlier JSON report to compare with."),
]
ExitZero = Annotated[
    bool, _flag("--exit-zero", panel=GATE, help="Exit 0 whatever the gate says; it still says it.")
]
NoWaivers = Annotated[
    bool, _flag("--no-waivers", panel=GATE, help="Count findings that the settings waive, too.")
]

Outputs = Annotated[
    list[str] | None,
    _flag(
        "--output",
        "-o",
        panel=OUTPUT,
        metavar="FORMAT[=FILE]",
        help="text, wide, score, name, json, html, markdown; repeatable. [default: text]",
    ),
]
Quiet = Annotated[bool, _flag("--quiet", "-q", panel=OUTPUT, help="Nothing on stderr but errors.")]
Verbose = Annotated[
    int,
    _flag(
        "--verbose", "-v", panel=OUTPUT, help="More on stderr; -vv for every request.", count=True
    ),
]
Debug = Annotated[
    str | None,
    _flag(
        "--debug",
        panel=OUTPUT,
        metavar="FILE",
        help="Write a log of every request: no headers, no bodies, no credentials.",
    ),
]
Color = Annotated[
    str, _flag("--color", panel=OUTPUT, help="auto, always or never.", metavar="WHEN")
]
Ascii = Annotated[bool, _flag("--ascii", panel=OUTPUT, help="Only ASCII characters.")]
ShowAll = Annotated[
    bool, _flag("--all", panel=OUTPUT, help="Also limits beyond the target and what passed.")
]


def seconds(text: str | None, flag: str) -> float | None:
    """A time such as "30s", "2m", "1h", "45" → seconds; null for nothing and for 0, which means no limit.

    Raises:
        ValueError: it is no length of time; the message names the flag.
    """
    if text is None:
        return None
    import re

    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip())
    if not match or not text.strip():
        raise ValueError(f"{flag} {text}: write a time like 30s, 2m or 1h")
    hours, minutes, rest = match.groups()
    total = int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(rest or 0)
    return total or None
