"""The terminal shows the same as the browser."""

import io
import threading

import pytest
from rich.console import Console

from gate_app.screen import terminal
from gate_app.screen.feed import Feed
from tests.browser.gate_scenes import (
    SCENES,
    Scene,
    a_scan,
    a_status,
    admitted,
    again,
    denied,
    in_test_mode,
    not_ready,
    offline,
)


def drawn(feed: Feed, width: int = 100, height: int = 30) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False, legacy_windows=False)
    console.print(terminal.render(feed.view()), height=height)
    text = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO from above
    return str(text)


def after(scene: object) -> str:
    feed = Feed(lambda: 0)
    assert callable(scene)
    scene(feed)
    return drawn(feed)


def test_an_admitted_guest() -> None:
    text = after(admitted)
    for expected in ("C O M E", "✓", "Row C · Seat 14", "▲ Check: photo ID, 18 or over", "Gate A", "Admitted 10"):
        assert expected in text


def test_a_refused_guest() -> None:
    text = after(denied)
    for expected in ("S T O P", "✕", "Already used", "through gate B"):
        assert expected in text
    assert "C O M E" not in text


def test_a_repeat() -> None:
    assert "AGAIN" in after(again)


def test_test_mode_is_plain_to_see() -> None:
    text = after(in_test_mode)
    assert "TEST MODE" in text
    assert "C O M E" not in text


def test_a_gate_without_a_network() -> None:
    text = after(offline)
    for expected in ("Offline", "Unsent 214", "List age 1.5 h", "▲ The last beep was not played"):
        assert expected in text


def test_a_gate_that_is_not_ready_does_not_say_ready() -> None:
    text = after(not_ready)
    assert "Not ready" in text
    assert "with --gate CODE" in " ".join(text.split()), "the reason is not cut"
    assert "Scan a ticket" not in text


def test_an_old_verdict_makes_room() -> None:
    now = [0]
    feed = Feed(lambda: now[0])
    feed.status(a_status())
    feed.show(a_scan())
    now[0] = 9_000_000_000
    assert "Ready" in drawn(feed)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_small_terminal_is_fine(scene: Scene) -> None:
    feed = Feed(lambda: 0)
    scene.show(feed)
    assert drawn(feed, width=40, height=16)


def test_text_from_a_ticket_are_never_taken_for_markup() -> None:
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


def test_the_tickets_of_a_party_are_listed_with_their_marks() -> None:
    member = {"id": "1", "standing": "may", "ticket": {"number": "N-1", "row": "C", "seat": "1"}, "reason": "admitted"}
    used = {"standing": "refused", "ticket": {"number": "N-2", "row": "C", "seat": "2"}, "reason": "already_used"}
    feed = Feed(lambda: 0)
    feed.party({"number": 1, "asks": True, "members": [member, {**member, **used, "verdict": "deny"}]})
    shown = drawn(feed)
    assert "A party of 2" in shown
    assert "○ Row C · Seat 1" in shown
    assert "✕ Row C · Seat 2" in shown
    assert "Already used" in shown
    assert "gatehouse-gate party" in shown
