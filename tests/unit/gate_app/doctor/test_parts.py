"""The doctor looks at every part of a gate, and leaves devices to one that is running."""

from __future__ import annotations

from pathlib import Path

from gate_app.installation.home import Home
from tests.gate_commands import Type


def test_json_is_for_programs_alone(type_: Type) -> None:
    said = type_("doctor", "--json")
    assert (said.err, {"part", "ok", "words"} <= said.lines[0].keys()) == ("", True)
    codes = {line["part"]: line["code"] for line in said.lines if not line["ok"]}
    assert codes["clock"] == "clock_never_set", "each fault has its code"


def test_the_doctor_looks_at_every_part(type_: Type) -> None:
    parts = {line["part"] for line in type_("doctor").lines}
    assert parts == {
        *(
            "enrolment",
            "ready",
            "tickets",
            "camera",
            "scanner",
            "sound",
            "gpio",
            "printer",
            "clock",
            "disk",
            "power",
            "temperature",
        ),
        *("screen", "journal", "unsent", "network"),
    }


BROKEN_DEVICES = """
indicators = ["fake"]
barrier = "turnstile"
[[readers]]
kind = "camera"
name = "north"
source = "/dev/video-of-nobody"
[[readers]]
kind = "fake"
"""


def test_the_doctor_opens_every_configured_device(type_: Type, home: Path) -> None:
    Home(home).settings.write_text(BROKEN_DEVICES)

    said = type_("doctor")

    found = {line["part"]: line for line in said.lines}
    assert (said.status, found["scanner"]["ok"], found["gpio"]["ok"]) == (1, False, False)
    assert "north: There is no camera" in found["scanner"]["words"]
    assert "fake: Ready." in found["scanner"]["words"], "one missing device does not hide the others"
    assert "no barrier of the kind 'turnstile'" in found["gpio"]["words"]


def test_the_doctor_leaves_the_devices_to_a_gate_that_is_running(type_: Type, home: Path) -> None:
    Home(home).settings.write_text(BROKEN_DEVICES)
    with Home(home).held("run"):
        found = {line["part"]: line for line in type_("doctor").lines}

    assert all(found[part]["ok"] for part in ("scanner", "gpio"))
    assert "gatehouse-gate run" in found["scanner"]["words"]
