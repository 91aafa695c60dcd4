"""The settings of the gate's printer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hardware.printers.opening import PrinterOptions


class PrinterSettings(BaseModel):
    """Where the printer is and how it is spoken to; layouts are the organiser's and come with the tickets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["cups", "zpl", "escpos", "fake"]
    at: str = ""  # for cups a queue; otherwise an address such as 192.0.2.40:9100, or a path under /dev
    name: str = "printer"
    on_admission: bool = True  # False: only when somebody asks for it
    dpi: int = Field(default=203, ge=100, le=600)
    turn: Literal[0, 90, 180, 270] = 0
    baud: Literal[1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200] = 9600
    answers: bool = True  # False for a model that never says how it is
    cut: bool = True  # receipt printers: after each slip

    @property
    def options(self) -> PrinterOptions:
        """What the driver needs of them."""
        return PrinterOptions(self.kind, self.at, self.name, self.baud, self.answers, self.cut)
