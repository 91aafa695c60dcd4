"""The threads of a running gate outlive what goes wrong in them."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate_app.installation.config import ReaderSettings
from gate_app.running import run
from gate_app.running.opening import being_opened, open_readers, readers_wanted
from gate_app.scanning.gathering import ScanOptions
from gate_app.screen.feed import Feed
from hardware.fakes import FakeReader
from shared.errors import SettingsError
from tests.gate_builders import a_gate


def test_a_reader_goes_on_after_an_error_that_nobody_expected() -> None:
    read: list[str] = []
    shown: list[tuple[str, ...]] = []
    stop, feed = threading.Event(), Feed(time.monotonic_ns)
    reader = FakeReader(time.monotonic_ns)

    def present(presentation: Any, _lamp: Any) -> None:
        read.append(presentation.text)
        shown.append(feed.view().condition.warnings)
        if len(read) < 3:
            raise OSError(5, "Input/output error")
        stop.set()

    parties: Any = SimpleNamespace(present=present, busy=False)
    for code in ("one", "two", "three"):
        reader.scan(code)
    run._serve(parties, reader, options=ScanOptions(), lamp=None, feed=feed, stop=stop)  # type: ignore[arg-type]
    assert read == ["one", "two", "three"]
    assert shown == [(), *[("[Errno 5] Input/output error",)] * 2]
    assert feed.view().condition.warnings == (), "it works again"


class PluggedInLater(threading.Event):
    """Somebody plugs a camera in while the gate waits for it."""

    def __init__(self, camera: Path, feed: Feed) -> None:
        super().__init__()
        self.camera, self.feed = camera, feed
        self.shown: list[tuple[bool, str]] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Look at the screen, then plug it in."""
        del timeout
        now = self.feed.view().condition
        self.shown.append((now.ready, now.why))
        self.camera.write_text("#!/bin/sh\nexec sleep 600\n")
        self.camera.chmod(0o700)
        return False


def test_a_patient_gate_waits_for_a_camera_and_says_so(tmp_path: Path) -> None:
    context, feed = a_gate(tmp_path / "home").context, Feed(time.monotonic_ns)
    stop = PluggedInLater(tmp_path / "camera", feed)
    camera = {"kind": "camera", "name": "lane", "source": f"program:{stop.camera}"}
    wanted = tuple(ReaderSettings.model_validate(one) for one in ({"kind": "fake", "name": "desk"}, camera))
    feed.starting(being_opened(wanted))
    assert feed.view().condition.why == "This gate is starting: its readers are being opened (desk and lane)"
    with ExitStack() as cleanup:
        readers = open_readers(context, wanted, feed, stop, cleanup, patient=True)
        assert [reader.name for _, reader in readers] == ["desk", "lane"]
        assert [(ready, "lane: There is no camera" in why) for ready, why in stop.shown] == [(False, True)]
        feed.starting("")
        assert feed.view().condition.ready
        assert not stop.is_set()
    assert readers[0][1].ended, "what was opened is closed at the end"
    context.close()


def test_a_gate_started_by_hand_ends_when_its_camera_is_missing(tmp_path: Path) -> None:
    context, feed = a_gate(tmp_path / "home").context, Feed(time.monotonic_ns)
    wanted = (ReaderSettings.model_validate({"kind": "camera", "source": "program:/no/such/camera"}),)
    with ExitStack() as cleanup, pytest.raises(SettingsError, match="There is no camera"):
        open_readers(context, wanted, feed, threading.Event(), cleanup, patient=False)
    context.close()


def test_a_gate_whose_only_reader_is_a_telephone_opens_no_other(tmp_path: Path) -> None:
    context, feed = a_gate(tmp_path / "home").context, Feed(time.monotonic_ns)
    with ExitStack() as cleanup:
        wanted = readers_wanted(context, ("phone",))
        assert open_readers(context, wanted, feed, threading.Event(), cleanup, patient=False) == []
    context.close()


def test_a_gate_without_the_libraries_for_a_telephones_pictures_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hardware.vision.phone_reader", None)
    context, feed = a_gate(tmp_path / "home").context, Feed(time.monotonic_ns)
    with ExitStack() as cleanup, pytest.raises(SettingsError, match=r"requirements/camera\.txt"):
        open_readers(context, readers_wanted(context, ("phone",)), feed, threading.Event(), cleanup, patient=False)
    context.close()
