"""The blocks of the page about badges: its layout can be drawn, its settings can be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from gate_app.installation.config import Config
from shared.badges.layout import read_layout
from shared.badges.ready_made import names
from shared.badges.sheets import png_of
from tests.architecture.tree import ROOT

PAGE = (ROOT / "docs" / "badges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_layout_can_be_drawn() -> None:
    (layout,) = [read_layout(block) for block in BLOCKS if "[[area]]" in block]
    assert png_of(layout, {"name": "Ada", "row": "4", "code": "CODE"}).startswith(b"\x89PNG")


def test_the_settings_can_be_read() -> None:
    (settings,) = [tomllib.loads(block) for block in BLOCKS if "[printer]" in block]
    printer = Config(**settings).printer
    assert printer is not None
    assert set(settings["printer"]) | {"name"} == set(type(printer).model_fields), "every setting is on the page"


def test_every_layout_that_comes_along_is_shown() -> None:
    for name in names():
        assert f"| `{name}`," in PAGE
        assert Path(ROOT / "docs" / "pictures" / f"badge-{name}.png").is_file()
