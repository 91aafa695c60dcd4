"""The blocks of code of all pages for users, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$? ?((?:\S*/)?(?:gatehouse-server|gatehouse-gate)|curl|scripts/\w[\w.-]*|[a-z][\w-]*) ")


@dataclass(frozen=True)
class Block:
    """One block of code."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def kind(self) -> str:
        """Its language; of one that names none, what it looks like."""
        if self.language:
            return self.language
        first = self.text.lstrip()
        if first.startswith(("{", "GET ", "POST ", "PUT ", "PATCH ")):
            return "http"
        return "sh" if _COMMAND.match(first) and not first.startswith("Gatehouse") else "output"

    def commands(self) -> Iterator[list[str]]:
        """Its commands as words, without what the shell does with them; a quoted text may have several lines."""
        text = re.sub(r"<[^>]+>", "VALUE", self.text)
        text = re.sub(r"[][]", "", text) if self.language == "" else text
        for line in _whole_lines(text):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            for stop in (">", "|", ";", "&&"):
                words = words[: words.index(stop)] if stop in words else words
            if words:
                yield words


def _whole_lines(text: str) -> Iterator[str]:
    whole = ""
    for line in text.splitlines():
        whole += line + "\n"
        if whole.count("'") % 2 == 0 and whole.count('"') % 2 == 0:
            yield whole
            whole = ""


def blocks() -> list[Block]:
    """Every block of every page."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        found += [
            Block(page.name, text[: match.start()].count("\n") + 1, match[1], match[2])
            for match in _BLOCK.finditer(text)
        ]
    return found
