"""Entry of ``kauditor`` and ``kubectl kauditor``."""

import sys


def main() -> None:
    """Run the command line; the exit status is the process's."""
    if sys.argv[1:] == ["--version"]:
        # Answered before anything heavy is imported.
        from kauditor import __version__

        print(f"kauditor {__version__}")
        return
    from kauditor.cli.app import run

    run()


if __name__ == "__main__":
    main()
