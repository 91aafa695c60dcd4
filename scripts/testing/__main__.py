"""Runs all tests, or a part of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from scripts.testing.choice import Choice

ROOT = Path(__file__).parents[2]
USAGE = """\
usage: scripts/test                      everything, in three processes
       scripts/test --quick [OPTION…]    under a minute: no service, no browser, few examples
       scripts/test --affected [BASE] [OPTION…]
                                         what the changes since BASE affect (default: since main; it says what and why)
       scripts/test --again              the few that failed in the last run, one after another
       scripts/test PYTEST-ARGUMENT…     whatever pytest takes: a file, a folder, -k WORDS, -x

OPTION… goes to pytest, too. GATEHOUSE_TEST_SKIP=postgresql,redis,rabbitmq,browser,nginx,cups excludes services.
See tests/README.md for the folders and the fixtures."""
PARALLEL = ("-n", "3", "--dist", "loadfile")
"""One more than two cores: many tests wait for brokers and servers (docs/decisions/0054-three-processes.md)."""
QUICK_PARALLEL = ("-n", "2", "--dist", "loadfile")
"""None of them waits."""
QUICK = ("tests/architecture", "tests/unit", "tests/contracts/events", "tests/journeys/test_offline_gates.py")
SLOW_UNITS = (
    "tests/architecture/test_packages.py",
    "tests/unit/hardware/test_decoder.py",
    "tests/unit/scripts",
    "tests/unit/sync_server/images/test_rendering.py",
    "tests/unit/sync_server/test_command_line.py",
    "tests/unit/sync_server/seating/test_allocation_study.py",
)
"""They start processes, build packages, simulate, or look at many pictures."""
LAST_FAILED = ROOT / ".cache/pytest/v/cache/lastfailed"
MOST_AGAIN = 5
"""What fails in more modules than these is no accident of a busy machine; tests of one module share their fixtures."""


def quick() -> list[str]:
    """The arguments of pytest for the quick selection."""
    left_out = [f"--ignore={path}" for path in SLOW_UNITS]
    return [*QUICK_PARALLEL, "-q", "--hypothesis-profile=quick", "-k", "not postgresql", *left_out, *QUICK]


def again(last_failed: Path) -> list[str]:
    """The arguments of pytest for what failed in the last run; ValueError if that is nothing, or too much."""
    failed = sorted(json.loads(last_failed.read_text())) if last_failed.exists() else []
    if not failed:
        raise ValueError("no test failed in the last run")
    modules = {test.partition("::")[0] for test in failed}
    if len(modules) > MOST_AGAIN:
        raise ValueError(f"tests of {len(modules)} modules failed, which is more than {MOST_AGAIN}: run all again")
    print(
        "\n".join(["Unsteady, if they pass now, and to be mended:", *(f"  {test}" for test in failed)]), file=sys.stderr
    )
    return ["-v", *failed]


WRONG_ARGUMENTS = 4
"""Pytest's own status for them; everywhere else it is 2."""


def affected(base: str | None) -> list[str] | None:
    """The arguments of pytest for the tests that changes affect; None if there are none."""
    from scripts.testing import changes  # grimp is not there before the first set-up, and --help must be

    choice: Choice = changes.since(ROOT, base)
    print(choice.text(), file=sys.stderr)
    if choice.everything:
        return [*PARALLEL]
    return [*PARALLEL, *choice.tests] if choice.tests else None


def arguments(given: list[str]) -> list[str] | None:
    """The arguments of pytest for those of this command; None if there is nothing to run."""
    match given:
        case []:
            return [*PARALLEL]
        case ["--quick", *options]:
            return [*quick(), *_options(options)]
        case ["--again"]:
            return again(LAST_FAILED)
        case ["--affected", base, *options] if not base.startswith("-"):
            chosen = _affected(base, options)
        case ["--affected", *options]:
            chosen = _affected(None, options)
        case _:
            return given
    return chosen


def _affected(base: str | None, options: list[str]) -> list[str] | None:
    sensible = _options(options)
    chosen = affected(base)
    return None if chosen is None else [*chosen, *sensible]


def _options(given: list[str]) -> list[str]:
    if given and not given[0].startswith("-"):
        raise ValueError(f"{given[0]} is not an option of pytest; name tests without --quick and --affected")
    if wrong := {"--quick", "--affected", "--again"} & set(given):
        raise ValueError(f"{wrong.pop()} must be the first argument, and the only choice")
    return given


def environment() -> dict[str, str]:
    """The environment of the tests: what they start finds its modules compiled, also where the machine says not to."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(given: list[str]) -> int:
    """Return pytest's exit status; 2 for arguments that make no sense."""
    if given[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    try:
        chosen = arguments(given)
    except ValueError as error:
        print(f"scripts/test: {error}", file=sys.stderr)
        return 2
    if chosen is None:
        return 0
    status = subprocess.run([sys.executable, "-m", "pytest", *chosen], env=environment(), check=False).returncode
    return 2 if status == WRONG_ARGUMENTS else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
