"""`python -m jitwise`: the command line.

In a folder that holds the sources Python finds these first, and they may have no native module.
Then the installed package is run instead.
"""

import os
import subprocess
import sys
from importlib.util import find_spec


def run_installed() -> int:
    """The same command with the installed package."""
    command = [sys.executable, "-P", *sys.orig_argv[1:]]
    if os.name == "posix":
        os.execv(sys.executable, command)
    return subprocess.call(command)


if find_spec("jitwise.runtime._native") is not None:
    from .cli.__main__ import main

    sys.exit(main())
if sys.flags.safe_path:
    sys.exit("jitwise is not installed: its native module is missing. Run `pip install .`")
sys.exit(run_installed())
