"""Runs the named benchmarks, or all of them; fails when a goal is missed."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator

from scripts.arguments import Arguments
from scripts.benchmarking import registry
from scripts.benchmarking.record import FILE, recorded
from scripts.benchmarking.report import print_lines, print_table
from scripts.benchmarking.result import Result


def arguments() -> argparse.Namespace:
    """The command line, parsed."""
    parser = Arguments(prog="scripts/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure (default: everything)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line instead of a table")
    parser.add_argument("--quick", action="store_true", help="a rough answer in under a minute each")
    parser.add_argument("--record", action="store_true", help="keep the figures for docs/figures.md")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and what they measure")
    parser.add_argument("--understood", action="store_true", help="only say whether the rest of the line is one")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in registry.names()]:
        parser.error(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(registry.names())}")
    return options


def run(names: list[str], *, quick: bool, record: bool) -> Iterator[Result]:
    """Yield the results of the named benchmarks, run one after the other so that none disturbs another."""
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        results = registry.bench(name).measure(quick=quick)
        yield from recorded(name, results, FILE, quick=quick) if record else results


def main() -> int:
    """Return exit status 0 only if every goal holds."""
    # SIGTERM cleans up servers and folders as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    options = arguments()
    if options.understood:
        return 0
    if options.list:
        for name in registry.names():
            print(f"{name:12} {registry.description(name)}")
        return 0
    report = print_lines if options.json else print_table
    results = run(options.names or registry.names(), quick=options.quick, record=options.record)
    return 0 if report(results) else 1


if __name__ == "__main__":
    sys.exit(main())
