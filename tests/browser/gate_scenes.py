"""States of a gate's screen, made with the messages that a gate sends to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gate_app.screen.feed import Feed

STATUS: dict[str, object] = {
    "ready": True,
    "event": "Northern Lights Tour",
    "gate": "A",
    "direction": "entry",
    "mode": "real",
    "timezone": "Europe/Berlin",
    "online": True,
    "unsent": 0,
    "snapshot_age_s": 2,
    "inside": 1482,
    "warnings": [],
}


def a_status(**changes: object) -> dict[str, object]:
    """The status of a working gate, with changes."""
    return {**STATUS, **changes}


def a_scan(**changes: object) -> dict[str, object]:
    """The scan of an admitted guest with a seat, with changes."""
    scan: dict[str, object] = {
        "verdict": "admit",
        "reason": "admitted",
        "message": "First entry on this ticket.",
        "notices": [],
        "ticket": {
            "id": "7",
            "type": "Balcony",
            "zone": "Upper balcony",
            "row": "C",
            "seat": "14",
            "number": "NLT-204",
        },
        "history": [],
        "seq": 30,
        "decided_at": "2026-07-04T17:31:08Z",
        "committed": True,
        "mode": "real",
        "direction": "entry",
        "reader": "camera",
    }
    return {**scan, **changes}


def already_used(**changes: object) -> dict[str, object]:
    """A single ticket shown a second time."""
    denial: dict[str, object] = {
        "verdict": "deny",
        "reason": "already_used",
        "message": "Used at 19:12 at gate B, 18 minutes ago. Do not admit.",
        "history": [{"at": "2026-07-04T17:12:44Z", "gate": "B", "direction": "entry"}],
    }
    return a_scan(**{**denial, **changes})


STANDING: dict[str, object] = {
    "id": "9",
    "type": "Standing",
    "zone": "Floor",
    "row": None,
    "seat": None,
    "number": "NLT-1377",
}


NO_GATE = "No gate is chosen at Northern Lights Tour. Choose A or B: on the device's page, with --gate CODE"


def earlier_guests(feed: Feed) -> None:
    """Show ten scans."""
    for minute in range(20, 28):
        at = f"2026-07-04T17:{minute}:3{minute % 7}Z"
        feed.show(a_scan(decided_at=at, seq=minute, **({"ticket": STANDING} if minute % 2 else {})))
    feed.show(a_scan(decided_at="2026-07-04T17:28:51Z", verdict="deny", reason="wrong_gate", ticket=STANDING, seq=28))
    feed.show(a_scan(decided_at="2026-07-04T17:29:40Z", reason="admitted_reentry", ticket=STANDING, seq=29))


def waiting(feed: Feed) -> None:
    feed.status(a_status())


def admitted(feed: Feed) -> None:
    feed.status(a_status())
    earlier_guests(feed)
    feed.show(a_scan(notices=["wheelchair", "check:photo ID, 18 or over", "not_yet_synced"]))


def admitted_plain(feed: Feed) -> None:
    feed.status(a_status())
    earlier_guests(feed)
    feed.show(a_scan(message="Welcome."))


def denied(feed: Feed) -> None:
    feed.status(a_status())
    earlier_guests(feed)
    feed.show(already_used())


def in_test_mode(feed: Feed) -> None:
    feed.status(a_status(mode="test", event="Northern Lights Tour", inside=0))
    feed.show(a_scan(reason="test_ok", mode="test", message="On the evening this ticket would be admitted."))


def offline(feed: Feed) -> None:
    feed.status(a_status(online=False, unsent=214, snapshot_age_s=5_460))
    earlier_guests(feed)
    feed.show(a_scan(ticket=STANDING, notices=["not_yet_synced"], message="Welcome."))
    feed.fault("sound", "The last beep was not played. Check that a loudspeaker is connected.")


def again(feed: Feed) -> None:
    feed.status(a_status())
    earlier_guests(feed)
    feed.show(a_scan(message="Welcome."))
    feed.show(a_scan(message="Welcome.", again=True))


def not_ready(feed: Feed) -> None:
    feed.status(a_status(ready=False, not_ready=NO_GATE, warnings=[NO_GATE]))


def broken(feed: Feed) -> None:
    feed.status(a_status(warnings=["The disk is full: 12 MB left. Free some space."]))
    feed.show(
        a_scan(
            verdict="deny", reason="cannot_record", ticket=None, message="The card cannot be written. Use another gate."
        )
    )


@dataclass(frozen=True, slots=True)
class Scene:
    """A state of the screen, and how to show it."""

    name: str
    show: Callable[[Feed], None]


SCENES = [
    # First, because a verdict hides them for some seconds.
    Scene("not-ready", not_ready),
    Scene("waiting", waiting),
    Scene("admitted", admitted),
    Scene("welcome", admitted_plain),
    Scene("denied", denied),
    Scene("test", in_test_mode),
    Scene("offline", offline),
    Scene("again", again),
    Scene("fault", broken),
]
