"""Generates docs/pages.md from the pictures of pages that scripts/pictures has taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

FILE = "docs/pages.md"
HEAD = Path(__file__).with_name("page_pictures.head.md")
PICTURES = Path(__file__).parents[2] / "docs/pictures/pages"
PARTS = {"desk": "The desk", "shop": "The shop"}


def text() -> str:
    """The whole page."""
    return HEAD.read_text("utf-8") + "".join(line for part in PARTS for line in _part(part))


def _part(part: str) -> Iterator[str]:
    described = sorted(PICTURES.glob(f"{part}-*.json"))
    if described:
        yield f"\n## {PARTS[part]}\n\n| page | large screen | telephone |\n|---|---|---|\n"
    for each in described:
        page = json.loads(each.read_text("utf-8"))
        title = str(page["title"]).replace("|", "·")
        pictures = " | ".join(f"![{title}](pictures/pages/{each.stem}-{kind}.webp)" for kind in ("desktop", "phone"))
        yield f"| {title}<br>`{page['address']}` | {pictures} |\n"
