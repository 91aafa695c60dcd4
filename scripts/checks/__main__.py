"""Runs every check, says what each found, and fails if one did."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from scripts.checks import generated, vendored
from scripts.checks.tools import ROOT, TOOLS, Outcome, Tool

Check = Callable[[], Outcome]


def tool_check(tool: Tool, *, mend: bool) -> Check:
    """One tool, ready to run."""
    return lambda: tool.run(mend=mend)


def checks(*, mend: bool) -> Iterator[Check]:
    """All of them; generated pages come last because they import the code."""
    yield from (tool_check(tool, mend=mend) for tool in TOOLS)
    yield lambda: Outcome("vendored files", "\n".join(vendored.all_mistakes(ROOT)))
    yield lambda: Outcome("generated pages", "\n".join(generated.stale(ROOT, mend=mend)))


def report(outcome: Outcome) -> None:
    """A line for what holds, the whole story for what does not."""
    print(f"{'failed' if outcome.words else 'holds ':6}  {outcome.name}", flush=True)
    if outcome.words:
        print(outcome.words, flush=True)


def main() -> int:
    """Exit status 0 only when all holds."""
    parser = argparse.ArgumentParser(prog="scripts/check", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")
    mend = parser.parse_args().fix
    failed = 0
    # Mending changes the files that others read: one after the other then.
    with ThreadPoolExecutor(max_workers=1 if mend else 2) as pool:
        for outcome in pool.map(lambda check: check(), checks(mend=mend)):
            report(outcome)
            failed += bool(outcome.words)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
