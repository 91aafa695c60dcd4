"""The check before the doors open: each device is tried, and failures are explained."""

from pathlib import Path

import pytest

from hardware.checkup import Finding, check_barrier, check_indicators, check_readers
from hardware.devices import ReaderOptions
from tests.unit.hardware.images import code, held_up, room, ticket_text
from tests.unit.hardware.test_camera import film
from tests.unit.hardware.test_sound import program


def checked(*readers: ReaderOptions, indicators: tuple[str, ...] = (), barrier: str = "none") -> list[Finding]:
    from time import monotonic_ns

    return [*check_readers(readers, monotonic_ns), *check_indicators(indicators), check_barrier(barrier)]


def test_one_missing_device_does_not_hide_the_others() -> None:
    found = checked(
        ReaderOptions("camera", "north", "/dev/video-of-nobody"), ReaderOptions("fake"), indicators=("fake",)
    )
    assert [(finding.device, finding.works) for finding in found] == [
        ("north", False),
        ("fake", True),
        ("fake", True),
        ("barrier", True),
    ]
    assert "cable" in found[0].message


def test_a_camera_that_sees_a_code_says_so_without_showing_it(tmp_path: Path) -> None:
    text = ticket_text()
    door = film(tmp_path / "door.avi", [held_up(code(text, 4), room())])
    (camera, _) = checked(ReaderOptions("camera", source=str(door)))
    assert camera.message == "Sends images; a code was read."


def test_a_loudspeaker_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "aplay", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (loudspeaker, _) = checked(indicators=("sound",))
    assert not loudspeaker.works
    assert "loudspeaker is connected" in loudspeaker.message


def test_the_barrier_is_not_opened_by_a_check() -> None:
    (barrier,) = checked(barrier="fake")
    assert "Not opened" in barrier.message
