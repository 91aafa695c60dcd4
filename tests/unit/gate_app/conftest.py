"""A gate of tonight, and its command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gate_app.__main__ import main
from shared.clock import wall_clock
from tests import gate_builders
from tests.gate_builders import Hands, a_gate, an_event, the_house
from tests.gate_commands import Said, Type


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A gate of tonight, enrolled and synchronised: the command line reads the real clock."""
    now = wall_clock()
    shift = now - gate_builders.EVENING
    days = tuple(type(day)(day.date, day.start + shift, day.until + shift) for day in an_event().days)
    rows = the_house(event=an_event(starts_at=now, ends_at=now + 6 * gate_builders.HOUR, days=days))
    gate = a_gate(tmp_path / "home", rows, hands=Hands(now))
    gate.context.close()
    return gate.folder


@pytest.fixture
def type_(home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Type:
    def run(*arguments: str, stdin: bytes = b"", at: Path | None = home) -> Said:
        monkeypatch.setattr(sys, "argv", ["gatehouse-gate", *arguments, *(["--home", str(at)] if at else [])])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr()
        assert "Traceback" not in said.err + said.out
        return Said(int(ended.value.code or 0), said.out, said.err)

    return run
