"""The tickets of a party in a text terminal."""

from __future__ import annotations

from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gate_app.display.party import PartyView

MARKS = {"may": "○", "chosen": "○", "going": "➜", "in": "✓", "refused": "✕", "taken_back": "↶"}
STYLES = {"going": "bold black on white", "in": "bold black on bright_green", "refused": "bold white on red"}
COMMANDS = "gatehouse-gate party --all | --only NUMBER | --nobody"


def party_panel(party: PartyView) -> RenderableType:
    """Each ticket in a row, with a mark as well as a colour; a terminal takes no choice, but says who does."""
    table = Table.grid(padding=(0, 1))
    for one in party.members:
        words = " · ".join(part for part in (one.label, one.more, one.says, one.spent) if part)
        table.add_row(MARKS.get(one.standing, ""), Text(words, style=STYLES.get(one.standing, "")))
    below = Text(COMMANDS if party.asks else party.progress, style="bold", justify="center")
    return Panel(Align.center(Group(table, Text(), below), vertical="middle"), title=str(party.heading))
