"""Looks at PDFs as people and gates do: pages as pictures, and their text."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hardware.vision.stills import decode_image
from shared import base32
from shared.claims import HEAD, extensions_of
from shared.parties import from_value
from shared.tickets import PREFIX


class Printed:
    """A PDF on paper, so to speak."""

    def __init__(self, content: bytes, folder: Path) -> None:
        self._file = folder / "tickets.pdf"
        self._file.write_bytes(content)

    def text(self) -> str:
        """What can be read on all pages, in one line."""
        read = ["pdftotext", str(self._file), "-"]
        done = subprocess.run(read, check=True, capture_output=True, timeout=60)
        return " ".join(done.stdout.decode().split())

    def pages(self, dots_per_inch: int = 110) -> list[Path]:
        """A picture of each page."""
        stem = self._file.with_suffix("")
        drawn = ["pdftoppm", "-r", str(dots_per_inch), "-png", str(self._file), str(stem)]
        subprocess.run(drawn, check=True, timeout=120)
        return sorted(stem.parent.glob(f"{stem.name}-*.png"))

    def codes(self, dots_per_inch: int = 110) -> list[tuple[str, ...]]:
        """What the decoder of gates reads on each page."""
        return [decode_image(page).codes for page in self.pages(dots_per_inch)]

    def fonts(self) -> str:
        """The fonts, and whether they are embedded."""
        done = subprocess.run(["pdffonts", str(self._file)], check=True, capture_output=True, timeout=60)
        return done.stdout.decode()

    def pictures(self) -> int:
        """How many raster pictures it has."""
        done = subprocess.run(["pdfimages", "-list", str(self._file)], check=True, capture_output=True, timeout=60)
        return len(done.stdout.decode().splitlines()) - 2


def members_of(code: str) -> set[int]:
    """The ids of the tickets that a party's code is good for, whoever signed it."""
    raw = base32.decode(code.removeprefix(PREFIX))
    assert raw is not None
    (_, value), *_ = extensions_of(raw[HEAD.size : HEAD.size + raw[HEAD.size - 1]]) or ()
    return {member.ticket_id for member in from_value(value) or ()}
