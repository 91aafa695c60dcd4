"""The text screen says what the browser says."""

import io
import threading

import pytest
from rich.console import Console

from gate_app import terminal
from gate_app.screen.feed import Feed
from tests.browser.gate_scenes import (
    SCENES,
    Scene,
    a_scan,
    a_status,
    admitted,
    again,
    denied,
    not_ready,
    offline,
    rehearsing,
)


def drawn(feed: Feed, width: int = 100, height: int = 30) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False, legacy_windows=False)
    console.print(terminal.picture(feed.view()), height=height)
    text = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO from above
    return str(text)


def after(scene: object) -> str:
    feed = Feed(lambda: 0)
    assert callable(scene)
    scene(feed)
    return drawn(feed)


def test_an_admitted_guest() -> None:
    text = after(admitted)
    for words in ("C O M E", "✓", "Row C · Seat 14", "▲ Check: photo ID, 18 or over", "Gate A", "Admitted 10"):
        assert words in text


def test_a_refused_guest() -> None:
    text = after(denied)
    for words in ("S T O P", "✕", "Already used", "through gate B"):
        assert words in text
    assert "C O M E" not in text


def test_a_repeat() -> None:
    assert "AGAIN" in after(again)


def test_test_mode_is_plain_to_see() -> None:
    text = after(rehearsing)
    assert "TEST MODE" in text
    assert "C O M E" not in text


def test_a_gate_without_a_network() -> None:
    text = after(offline)
    for words in ("Offline", "Unsent 214", "List age 1.5 h", "▲ The last beep was not played"):
        assert words in text


def test_a_gate_that_is_not_ready_invites_nobody() -> None:
    text = after(not_ready)
    assert "Not ready" in text
    assert "Scan a ticket" not in text


def test_an_old_verdict_makes_room() -> None:
    now = [0]
    feed = Feed(lambda: now[0])
    feed.status(a_status())
    feed.show(a_scan())
    now[0] = 9_000_000_000
    assert "Ready" in drawn(feed)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_small_terminal_is_no_trouble(scene: Scene) -> None:
    feed = Feed(lambda: 0)
    scene.bring_about(feed)
    assert drawn(feed, width=40, height=16)


def test_words_from_a_ticket_are_never_taken_for_markup() -> None:
    feed = Feed(lambda: 0)
    feed.show(a_scan(message="[bold]x[/nonsense]", ticket={"type": "[red]", "zone": "[/]"}))
    assert "[bold]x[/nonsense]" in drawn(feed)


def test_it_draws_until_it_is_stopped() -> None:
    feed, stop = Feed(lambda: 0), threading.Event()
    console = Console(file=io.StringIO(), width=80, height=24)
    feed.show(a_scan())
    drawing = threading.Thread(target=terminal.show, args=(feed.views(stop), console, stop))
    drawing.start()
    stop.set()
    feed.wake()
    drawing.join(20)
    assert not drawing.is_alive()
