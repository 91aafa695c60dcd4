"""The gate's screen in a text terminal, with the same texts and symbols as in the browser."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from rich.align import Align
from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gate_app.display.announcement import Announcement, Tone
from gate_app.display.condition import Condition
from gate_app.display.view import View

SHOWN_FOR_MS = 8_000
LOOKS: dict[Tone, tuple[str, str]] = {
    Tone.ADMIT: ("✓", "bold black on bright_green"),
    Tone.ATTENTION: ("✓", "bold black on bright_green"),
    Tone.DENY: ("✕", "bold white on red"),
    Tone.TEST: ("T", "bold black on bright_cyan"),
    Tone.FAULT: ("!", "bold black on bright_yellow"),
}


def show(views: Iterable[View], console: Console, stop: threading.Event) -> None:
    """Draws each view until they end or `stop` is set, then restores the terminal."""
    with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
        for view in views:
            if stop.is_set():
                return
            live.update(render(view), refresh=True)


def render(view: View) -> RenderableType:
    """One view, filling the terminal."""
    whole = Layout()
    edges = edge_lines(view)
    whole.split_column(
        Layout(top_line(view.condition), size=2 if view.condition.test else 1),
        Layout(middle(view), name="middle", ratio=1),
        Layout(Group(*edges), size=len(edges)),
    )
    return whole


def middle(view: View) -> RenderableType:
    both = Layout()
    both.split_row(Layout(verdict_panel(view), ratio=3), Layout(recent_panel(view.recent), ratio=2))
    return both


def verdict_panel(view: View) -> RenderableType:
    """The newest verdict while it is recent, otherwise whether the gate is ready."""
    if view.verdict is None or view.age_ms > SHOWN_FOR_MS:
        not_ready = f"! Not ready !\n\nCannot admit anyone yet\n\n{view.condition.why}".rstrip()
        waiting = "Ready\n\nScan a ticket" if view.condition.ready else not_ready
        return Panel(Align.center(Text(waiting, justify="center"), vertical="middle"))
    style = LOOKS[view.verdict.tone][1]
    return Panel(Align.center(verdict_text(view.verdict, view.again), vertical="middle", style=style), style=style)


def verdict_text(verdict: Announcement, again: int) -> Text:
    """Everything about one verdict, most important first."""
    symbol = LOOKS[verdict.tone][0]
    lines = [f"{symbol} {symbol} {symbol}   {spaced(verdict.heading)}   {symbol} {symbol} {symbol}", "", verdict.title]
    lines += [
        line
        for line in (verdict.spent, verdict.seat, verdict.zone, verdict.ticket, verdict.holder, verdict.message)
        if line != ""
    ]
    if again:
        lines += ["", "AGAIN: same ticket as a moment ago"]
    if verdict.test and verdict.tone is not Tone.TEST:
        lines.insert(0, "TEST")
    lines += ["", *(f"▲ {notice.words}" if notice.act else notice.words for notice in verdict.notices)]
    lines += [*verdict.earlier, f"#{verdict.number}  {verdict.at}" if verdict.number else verdict.at]
    return Text("\n".join(lines).rstrip(), justify="center")


def spaced(heading: str) -> str:
    """The heading with spaced letters, as large as a terminal allows."""
    return " ".join(heading)


def recent_panel(recent: Iterable[Announcement]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for scan in recent:
        where = " · ".join(part for part in (scan.seat, scan.zone) if part)
        table.add_row(scan.at, LOOKS[scan.tone][0], Text(scan.title), Text(where, style="dim"))
    return Panel(table, title="Last scans")


def top_line(now: Condition) -> RenderableType:
    place = " · ".join(part for part in (now.event, now.gate and f"Gate {now.gate}", "Exit" * now.exit_lane) if part)
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    online = Text("● Online", style="green") if now.online else Text("◇ Offline, still scanning", style="bold yellow")
    line.add_row(Text(place, style="bold"), online)
    band = Text("TEST MODE. Nobody is admitted, nothing is counted.", style="bold black on yellow", justify="center")
    return Group(line, band) if now.test else line


def edge_lines(view: View) -> list[Text]:
    """Warnings, then the numbers."""
    now = view.condition
    warnings = [
        Text(f"▲ {warning}", style="bold yellow", no_wrap=True, overflow="ellipsis") for warning in now.warnings
    ]
    counts = [f"Admitted {view.admitted}", f"Refused {view.refused}"]
    counts += [f"Inside {now.inside}"] if now.inside else []
    counts += [f"Unsent {now.unsent}", f"List age {now.snapshot}"]
    return [*warnings, Text("   ".join(counts), no_wrap=True, overflow="ellipsis")]
