"""The command line. Only typer is imported here; a command imports what it needs when it runs."""

import typer

from kauditor import __version__

app = typer.Typer(
    name="kauditor",
    help="What breaks first on the way to N nodes, how sure are we, and what to do about it.\n\n"
    "Read-only: asks the API server for nothing but get and list.",
    epilog="Examples:  kauditor scan --demo  ·  kauditor scan --target-nodes 5000  ·  "
    "kauditor scan -o html=report.html --min-limit 3000",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"kauditor {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_version, is_eager=True
    ),
) -> None:
    """Nothing to do before a command."""


def _commands() -> None:
    from kauditor.cli import (
        checks,
        collect,
        completion,
        config,
        diff,
        gate,
        rbac,
        report,
        scan,
        waivers,
    )

    app.command("scan", help=scan.HELP)(scan.scan)
    app.command("collect", help=collect.HELP)(collect.collect)
    app.command("report", help=report.HELP)(report.report)
    app.command("diff", help=diff.HELP)(diff.diff)
    app.command("gate", help=gate.HELP)(gate.gate)
    app.command("rbac", help=rbac.HELP)(rbac.rbac)
    app.add_typer(checks.app, name="checks")
    app.add_typer(config.app, name="config")
    app.add_typer(waivers.app, name="waivers")
    app.command("completion", help=completion.HELP)(completion.completion)


_commands()


def run() -> None:
    """Run the command line as ``kauditor``, or as ``kubectl kauditor`` where kubectl calls."""
    import os
    import sys

    called = os.path.basename(sys.argv[0])
    name = "kubectl kauditor" if called.startswith("kubectl-") else "kauditor"
    if "_KAUDITOR_COMPLETE" in os.environ:
        # A shell asks for words; typer brings the answer's form only where its own flags are on.
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    app(prog_name=name)
