"""``kauditor completion``."""

from typing import Annotated

import typer

from kauditor.cli.exits import Sentence, exits

HELP = """Print the completion script of a shell.

\b
Examples:
  source <(kauditor completion bash)
  kauditor completion zsh > ~/.zfunc/_kauditor
  kauditor completion fish > ~/.config/fish/completions/kauditor.fish
"""
SHELLS = ("bash", "zsh", "fish")
# Set by the script when it asks for words; also the one that typer looks at.
VARIABLE = "_KAUDITOR_COMPLETE"


@exits
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> int:
    """Typer's own script, for our name."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    if shell not in SHELLS:
        raise Sentence(f"completion {shell}: write {', '.join(SHELLS)}.")
    print(get_completion_script(prog_name="kauditor", complete_var=VARIABLE, shell=shell))
    return 0
