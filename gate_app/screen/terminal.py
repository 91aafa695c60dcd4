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
from gate_app.display.party import lasts
from gate_app.display.view import View
from gate_app.screen.terminal_party import party_panel
from gate_app.words import TEXTS
from shared.words.wording import DEFAULT, Wording, in_language, wording

SHOWN_FOR_MS = 8_000
LOOKS: dict[Tone, tuple[str, str]] = {
    Tone.ADMIT: ("✓", "bold black on bright_green"),
    Tone.ATTENTION: ("✓", "bold black on bright_green"),
    Tone.DENY: ("✕", "bold white on red"),
    Tone.TEST: ("T", "bold black on bright_cyan"),
    Tone.FAULT: ("!", "bold black on bright_yellow"),
    Tone.LOOK: ("?", "bold white on blue"),
}


def show(views: Iterable[View], console: Console, stop: threading.Event, language: str = DEFAULT) -> None:
    """Draws each view until they end or `stop` is set, then restores the terminal."""
    with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
        for view in views:
            if stop.is_set():
                return
            live.update(render(view, language), refresh=True)


def render(view: View, language: str = DEFAULT) -> RenderableType:
    """One view, filling the terminal."""
    return _drawn(in_language(view, language), wording(TEXTS, language))


def _drawn(view: View, t: Wording) -> RenderableType:
    whole = Layout()
    edges = edge_lines(view, t)
    whole.split_column(
        Layout(top_line(view.condition, t), size=2 if view.condition.test else 1),
        Layout(middle(view, t), name="middle", ratio=1),
        Layout(Group(*edges), size=len(edges)),
    )
    return whole


def middle(view: View, t: Wording) -> RenderableType:
    both = Layout()
    both.split_row(Layout(verdict_panel(view, t), ratio=3), Layout(recent_panel(view.recent, t), ratio=2))
    return both


def verdict_panel(view: View, t: Wording) -> RenderableType:
    """The newest verdict while it is recent, otherwise whether the gate is ready."""
    if view.party is not None and lasts(view.party):
        return party_panel(view.party)
    if view.verdict is None or view.age_ms > SHOWN_FOR_MS:
        not_ready = f"! {t('screen.not_ready')} !\n\n{t('screen.cannot_admit')}\n\n{view.condition.why}".rstrip()
        waiting = f"{t('screen.ready')}\n\n{t('screen.scan')}" if view.condition.ready else not_ready
        return Panel(Align.center(Text(waiting, justify="center"), vertical="middle"))
    style = LOOKS[view.verdict.tone][1]
    return Panel(Align.center(verdict_text(view.verdict, view.again, t), vertical="middle", style=style), style=style)


def verdict_text(verdict: Announcement, again: int, t: Wording) -> Text:
    """Everything about one verdict, most important first."""
    symbol = LOOKS[verdict.tone][0]
    lines = [f"{symbol} {symbol} {symbol}   {spaced(verdict.heading)}   {symbol} {symbol} {symbol}", "", verdict.title]
    lines += [
        line
        for line in (verdict.spent, verdict.seat, verdict.zone, verdict.ticket, verdict.holder, verdict.message)
        if line != ""
    ]
    if again:
        lines += ["", t("screen.again").upper()]
    if verdict.test and verdict.tone is not Tone.TEST:
        lines.insert(0, t("screen.test"))
    lines += ["", *(f"▲ {notice.words}" if notice.act else notice.words for notice in verdict.notices)]
    lines += [*verdict.earlier, f"#{verdict.number}  {verdict.at}" if verdict.number else verdict.at]
    return Text("\n".join(lines).rstrip(), justify="center")


def spaced(heading: str) -> str:
    """The heading with spaced letters, as large as a terminal allows."""
    return " ".join(heading)


def recent_panel(recent: Iterable[Announcement], t: Wording) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for scan in recent:
        where = " · ".join(part for part in (scan.seat, scan.zone) if part)
        table.add_row(scan.at, LOOKS[scan.tone][0], Text(scan.title), Text(where, style="dim"))
    return Panel(table, title=t("screen.last_scans"))


def top_line(now: Condition, t: Wording) -> RenderableType:
    named = (now.event, now.gate and t("screen.gate", gate=now.gate), t("screen.exit") if now.exit_lane else "")
    place = " · ".join(part for part in named if part)
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    link = Text(f"● {t('screen.online')}", style="green")
    online = (
        link
        if now.online
        else Text(f"◇ {t('screen.offline' if now.ready else 'screen.offline_idle')}", style="bold yellow")
    )
    line.add_row(Text(place, style="bold"), online)
    band = Text(t("screen.test_mode"), style="bold black on yellow", justify="center")
    return Group(line, band) if now.test else line


def edge_lines(view: View, t: Wording) -> list[Text]:
    """Warnings, then the numbers."""
    now = view.condition
    warnings = [
        Text(f"▲ {warning}", style="bold yellow", no_wrap=True, overflow="ellipsis") for warning in now.warnings
    ]
    counts = [f"{t('count.admitted')} {view.admitted}", f"{t('count.refused')} {view.refused}"]
    counts += [f"{t('count.inside')} {now.inside}"] if now.inside else []
    counts += [f"{t('count.unsent')} {now.unsent}", f"{t('count.list_age')} {now.snapshot}"]
    return [*warnings, Text("   ".join(counts), no_wrap=True, overflow="ellipsis")]
