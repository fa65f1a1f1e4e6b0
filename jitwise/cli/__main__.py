"""The commands of `python -m jitwise` and what they are given.

    python -m jitwise demo [--list] [PROGRAM ...]     programs beside NumPy
    python -m jitwise settings                        the table of settings
    python -m jitwise version

Each command imports what it needs when it runs, so that asking for help loads nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import config


def _demo(options: argparse.Namespace) -> int:
    from . import demo

    return demo.run_demo(options.program, only_list=options.list)


def _settings(options: argparse.Namespace) -> int:
    print(config.describe())
    return 0


def _version(options: argparse.Namespace) -> int:
    import platform

    import numpy

    from .. import __version__

    print(f"jitwise {__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}")
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their arguments."""
    top = argparse.ArgumentParser(
        prog="jitwise",
        description="A compiler for NumPy code.",
        epilog="What jitwise did and why: JITWISE_LOG=1 prints a line for each trace, compilation "
        "and function that runs as Python; in a program, f.records() and jitwise.records() give it "
        "as data.",
    )
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="run example programs with NumPy and with jitwise")
    demo.add_argument(
        "program", nargs="*", help="a program's name, or a file of your own (see --list)"
    )
    demo.add_argument("--list", action="store_true", help="say which programs there are")
    demo.set_defaults(run=_demo)
    commands.add_parser("settings", help="print the table of settings").set_defaults(run=_settings)
    commands.add_parser("version", help="print versions").set_defaults(run=_version)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the process's exit code, as a shell gives it."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except BrokenPipeError:  # who reads, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # SIGPIPE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + 2  # SIGINT


if __name__ == "__main__":
    sys.exit(main())
