"""Runs every check, reports what each found, and fails if one does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from scripts.arguments import Arguments
from scripts.checks import generated, released, vendored
from scripts.checks.tools import ROOT, TOOLS, Outcome, Tool

Check = Callable[[], Outcome]


def tool_check(tool: Tool, *, fix: bool) -> Check:
    """A check that runs the tool."""
    return lambda: tool.run(fix=fix)


def checks(*, fix: bool) -> Iterator[Check]:
    """All checks; generated pages come last because making them imports the code."""
    yield from (tool_check(tool, fix=fix) for tool in TOOLS)
    yield lambda: Outcome("vendored files", "\n".join(vendored.all_mistakes(ROOT)))
    yield lambda: Outcome("released migrations", "\n".join(released.mistakes(ROOT)))
    yield lambda: Outcome("generated pages", "\n".join(generated.stale(ROOT, fix=fix)))


def report(outcome: Outcome) -> None:
    """Print one line for a check that passes, its whole output for one that fails."""
    print(f"{'failed' if outcome.output else 'passed':6}  {outcome.name}", flush=True)
    if outcome.output:
        print(outcome.output, flush=True)


def main() -> int:
    """Return exit status 0 only if every check passes."""
    parser = Arguments(prog="scripts/check", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed")
    fix = parser.parse_args().fix
    failed = 0
    # Fixing changes files that other checks read, so then they run one by one.
    with ThreadPoolExecutor(max_workers=1 if fix else 2) as pool:
        for outcome in pool.map(lambda check: check(), checks(fix=fix)):
            report(outcome)
            failed += bool(outcome.output)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
