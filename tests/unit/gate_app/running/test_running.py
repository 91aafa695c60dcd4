"""The threads of a running gate outlive what goes wrong in them."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

from gate_app.running import run
from gate_app.scanning.gathering import ScanOptions
from gate_app.screen.feed import Feed
from hardware.fakes import FakeReader


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
