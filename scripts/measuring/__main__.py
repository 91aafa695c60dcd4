"""Runs the benchmarks that are asked for, or all of them; fails when a goal does not hold."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator

from scripts.measuring import cases
from scripts.measuring.report import print_lines, print_table
from scripts.measuring.result import Result


def arguments() -> argparse.Namespace:
    """What the caller wants."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; nothing named means everything")
    parser.add_argument("--json", action="store_true", help="a JSON object a line instead of a table")
    parser.add_argument("--quick", action="store_true", help="a rough answer in under a minute each")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and what they measure")
    wanted = parser.parse_args()
    if unknown := [name for name in wanted.names if name not in cases.names()]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(cases.names())}")
    return wanted


def measured(names: list[str], *, quick: bool) -> Iterator[Result]:
    """The results of the named benchmarks, one after the other so that none disturbs another."""
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        yield from cases.bench(name).measure(quick=quick)


def main() -> int:
    """Exit status 0 only when every goal holds."""
    # Asked to end, it lets go of its servers and folders as it would at Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    wanted = arguments()
    if wanted.list:
        for name in cases.names():
            print(f"{name:12} {cases.description(name)}")
        return 0
    tell = print_lines if wanted.json else print_table
    return 0 if tell(measured(wanted.names or cases.names(), quick=wanted.quick)) else 1


if __name__ == "__main__":
    sys.exit(main())
