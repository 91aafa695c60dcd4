"""Fails a test when the server sent a statement that names no organisation, and a run that used an exception never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.services.optional_services import excluded_services
from tests.statements.exceptions import EXCEPTIONS
from tests.statements.listener import HEARD

__all__ = [
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "statements_name_their_organisation",
]

_OUTPUT: Final = "exceptions_used"


@pytest.fixture(autouse=True)
def statements_name_their_organisation() -> Iterator[None]:
    """Fails the test during which a statement of the server left the organisation out."""
    yield
    offences = sorted(map(str, HEARD.offences))
    HEARD.offences.clear()
    if offences:
        pytest.fail("\n\n".join([*offences, "See tests/README.md."]), pytrace=False)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect what a process of the run used."""
    HEARD.exceptions_used.update(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what this process used to the one that reports, which fails the run if nothing used an exception."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = sorted(HEARD.exceptions_used)
    elif _unused(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which exceptions nothing used."""
    for place in _unused(config):
        terminalreporter.write_line(
            f"No statement needs the exception {place} of tests/statements/exceptions.py any more: remove it.", red=True
        )


def _unused(config: pytest.Config) -> list[str]:
    """The exceptions that nothing used, if everything ran."""
    chosen = config.option.file_or_dir or config.option.keyword or config.option.markexpr or config.option.collectonly
    return [] if chosen or excluded_services() else sorted(EXCEPTIONS.keys() - HEARD.exceptions_used)
