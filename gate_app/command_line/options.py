"""The options that several commands share, and the values that options can have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The gate's folder.", envvar="GATEHOUSE_GATE_HOME", readable=False)
]


GateOption = Annotated[str, typer.Option(metavar="CODE", help="Use another gate that this device is allowed at.")]
PinOption = Annotated[
    str, typer.Option("--pin", metavar="-", help="- for the terminal, or the number of a file descriptor.")
]


class Doors(StrEnum):
    """What `doors` can do."""

    OPEN = "open"
    CLOSE = "close"


class OnOff(StrEnum):
    """A switch."""

    ON = "on"
    OFF = "off"


class PairOption(StrEnum):
    """What a screen can be paired as."""

    STEWARD = "steward"
    SUPERVISOR = "supervisor"
    READER = "reader"


class DirectionOption(StrEnum):
    """Directions, as option values."""

    ENTRY = "entry"
    EXIT = "exit"


class ModeOption(StrEnum):
    """Modes, as option values."""

    REAL = "real"
    TEST = "test"


class ContentOption(StrEnum):
    """What `export` can write."""

    JOURNAL = "journal"
    ROSTER = "roster"
