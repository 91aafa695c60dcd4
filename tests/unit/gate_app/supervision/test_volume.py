"""How loud the gate is: staff change it on the spot, everything that sounds keeps to it, and it outlasts a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate_app.indicators import Indicators
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import OWNER, Role, Screen
from hardware.pins.lamps import Buzzer
from hardware.pins.options import PinOptions
from hardware.ports import Signal
from hardware.sound import Sound
from shared.errors import InvalidRequest
from tests.gate_builders import GateAtHome, a_gate

STEWARD = Screen("a", Role.STEWARD, 0, 2**62)


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


def opened(gate: GateAtHome, heard: list[int]) -> Desk:
    return gate.context.desk(gate.lamp, sound=heard.append)


def test_it_is_as_loud_as_the_settings_say_until_a_steward_changes_it(gate: GateAtHome) -> None:
    heard: list[int] = []
    desk = opened(gate, heard)
    desk.perform("loudness", {"percent": 30}, STEWARD)
    desk.perform("loudness", {"quiet": True}, STEWARD)
    desk.perform("loudness", {"percent": 90}, STEWARD)
    answer = desk.perform("loudness", {"quiet": False}, STEWARD)
    assert heard == [70, 30, 0, 0, 90]
    assert answer == {"loudness": 90, "quiet": False}
    assert {name: desk.state()[name] for name in answer} == answer


def test_quiet_and_loudness_outlast_a_restart(gate: GateAtHome) -> None:
    opened(gate, []).perform("loudness", {"percent": 20, "quiet": True}, OWNER)
    gate.crash()
    heard: list[int] = []
    desk = opened(gate, heard)
    assert heard == [0]
    assert desk.perform("loudness", {"quiet": False}, OWNER)["loudness"] == 20


@pytest.mark.parametrize("fields", [{"percent": 101}, {"percent": -1}, {"percent": "loud"}, {"percent": True}])
def test_what_is_no_loudness_is_refused(gate: GateAtHome, fields: dict[str, Any]) -> None:
    heard: list[int] = []
    desk = opened(gate, heard)
    with pytest.raises(InvalidRequest):
        desk.perform("loudness", fields, OWNER)
    assert heard == [70]


def test_the_loudspeaker_keeps_to_it_from_the_next_beep_on(tmp_path: Path) -> None:
    played = tmp_path / "played"
    player = tmp_path / "player"
    player.write_text(f'#!/bin/sh\ncat "$1" > {played}.new && mv {played}.new {played}\n')
    player.chmod(0o700)
    sound = Sound([str(player)]).open()
    outputs = Indicators([sound], None, lambda _fault: None, lambda _device: None)

    def beep() -> int:
        """The loudest sample of what was played; 0 for silence."""
        played.unlink(missing_ok=True)
        sound.show(Signal.ADMIT)
        if sound._playing is not None:
            sound._playing.wait(20)
        content = played.read_bytes()[44:] if played.exists() else b""
        return max(
            (abs(int.from_bytes(content[at : at + 2], "little", signed=True)) for at in range(0, len(content), 2)),
            default=0,
        )

    loud = beep()
    outputs.set_loudness(10)
    soft = beep()
    outputs.set_loudness(0)
    silent = beep()
    outputs.set_loudness(70)
    assert (soft < loud / 5, silent, beep()) == (True, 0, loud)
    outputs.close()


def test_a_buzzer_is_quiet_and_beeps_again(monkeypatch: pytest.MonkeyPatch) -> None:
    buzzer = Buzzer(PinOptions(buzzer=4), 70)
    played: list[int] = []
    monkeypatch.setattr(buzzer.player, "play", lambda steps: played.append(len(steps)))
    buzzer.set_loudness(0)
    buzzer.show(Signal.DENY)
    buzzer.set_loudness(50)
    buzzer.show(Signal.DENY)
    assert played[0] == 0, "it stops in the middle of a beep"
    assert [steps > 0 for steps in played[1:]] == [True]
