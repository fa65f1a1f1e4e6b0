"""How every public function of NumPy with a numeric meaning runs inside a jitted function.

    python tools/surface.py                 the table as text, and the counts
    python tools/surface.py --write         the table in docs/functions.md
    python tools/surface.py numpy.sort      what was found of some functions, call by call

The functions and their calls are those of tests/conformance/surface_table.py. A function is as good
as the least of its calls, and a call is what most of its cases (dtypes, shapes, layouts) are. What
fewer cases come to is named after it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "conformance")]

from surface_document import document, rows_of  # noqa: E402
from surface_run import Found, run  # noqa: E402
from surface_table import Call, calls  # noqa: E402

DOCUMENT = ROOT / "docs" / "functions.md"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="A table of markdown goes to docs/functions.md with --write.",
    )
    parser.add_argument("functions", nargs="*", help="names such as numpy.sort; all by default")
    parser.add_argument("--write", action="store_true", help="rewrite docs/functions.md")
    options = parser.parse_args()
    wanted = [call for call in calls() if call.function in (options.functions or [call.function])]
    found: dict[Call, Found] = {}
    for place, call in enumerate(wanted):
        if sys.stderr.isatty():
            print(f"\r{place + 1}/{len(wanted)} {call.function:40.40}", end="", file=sys.stderr)
        found[call] = run(call)
    if sys.stderr.isatty():
        print(f"\r{'':60}\r", end="", file=sys.stderr)
    if options.functions:
        for call, each in found.items():
            print(f"{each.usual:8}{call.text}  {dict(each.ways)}", *each.reasons, sep="\n        ")
    faults = [fault for each in found.values() for fault in each.faults]
    text = document(found)
    if options.write and not options.functions:
        DOCUMENT.write_text(text)
    elif not options.functions:
        print(text)
    print("\n".join(f"DIFFERS {fault}" for fault in faults) or "none gives a different answer")
    return bool(faults)


__all__ = ["rows_of"]

if __name__ == "__main__":
    sys.exit(main())
