"""Beeps can be distinguished, and the gate works without them."""

import wave
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardware.patterns import TONES, rehearse
from hardware.ports import DeviceError, Signal
from hardware.sound import Sound, find_player


@pytest.fixture
def played(tmp_path: Path) -> Path:
    return tmp_path / "played"


@pytest.fixture
def player(tmp_path: Path, played: Path) -> Path:
    """A real program in place of the loudspeaker: it writes down the name of the file that it is given."""
    return program(tmp_path / "player", f'basename "$1" >> "{played}"')


def program(path: Path, does: str) -> Path:
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def sound(player: Path) -> Iterator[Sound]:
    opened = Sound([str(player)]).open()
    yield opened
    opened.close()


def finish(sound: Sound) -> None:
    """Waits for the player."""
    if sound._playing is not None:
        sound._playing.wait(20)


def test_each_signal_plays_its_own_beep(sound: Sound, played: Path) -> None:
    for signal in (Signal.ADMIT, Signal.DENY, Signal.TEST):
        sound.show(signal)
        finish(sound)
    assert played.read_text().split() == ["admit.wav", "deny.wav", "test.wav"]


@pytest.mark.parametrize("signal", [Signal.READY, Signal.AGAIN])
def test_being_ready_and_being_shown_the_same_code_again_make_no_sound(
    sound: Sound, played: Path, signal: Signal
) -> None:
    sound.show(signal)
    finish(sound)
    assert not played.exists()


def test_a_new_verdict_cuts_the_old_beep_short(tmp_path: Path) -> None:
    sound = Sound([str(program(tmp_path / "slow", "exec sleep 600"))]).open()
    sound.show(Signal.DENY)
    first = sound._playing
    sound.show(Signal.ADMIT)
    assert first is not None
    assert first.returncode is not None
    sound.close()


def test_a_code_still_held_up_does_not_cut_its_own_beep_short(tmp_path: Path) -> None:
    sound = Sound([str(program(tmp_path / "slow", "exec sleep 600"))]).open()
    sound.show(Signal.DENY)
    first = sound._playing
    sound.show(Signal.AGAIN)
    assert first is not None
    assert first.poll() is None
    sound.close()
    assert first.poll() is not None


def test_a_player_that_fails_is_reported_at_the_next_beep_which_is_still_tried(tmp_path: Path) -> None:
    sound = Sound([str(program(tmp_path / "broken", "exit 1"))]).open()
    sound.show(Signal.ADMIT)
    finish(sound)
    with pytest.raises(DeviceError, match="last beep was not played"):
        sound.show(Signal.DENY)
    assert sound._playing is not None
    sound.close()


def test_a_player_that_was_removed_is_reported(tmp_path: Path) -> None:
    sound = Sound([str(tmp_path / "gone")]).open()
    with pytest.raises(DeviceError, match="could not be started"):
        sound.show(Signal.ADMIT)
    sound.close()


def test_a_machine_without_a_player_is_reported_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="alsa-utils"):
        find_player(str(tmp_path))


def test_the_first_player_found_is_taken(tmp_path: Path) -> None:
    program(tmp_path / "paplay", "true")
    assert find_player(str(tmp_path)) == [str(tmp_path / "paplay")]


def test_every_beep_is_a_wav_file_of_its_own(tmp_path: Path) -> None:
    sound = Sound(["true"]).open()
    contents = {signal: content(sound._file(signal)) for signal, tones in TONES.items() if tones}
    assert len(set(contents.values())) == len(contents)
    assert all(len(frames) > 1_000 for frames in contents.values())
    sound.close()


def content(file: Path) -> bytes:
    with wave.open(str(file)) as heard:
        return bytes(heard.readframes(heard.getnframes()))


def test_good_news_goes_up_and_bad_news_goes_down() -> None:
    admit, deny = ([tone.hertz for tone in TONES[s] if tone.hertz] for s in (Signal.ADMIT, Signal.DENY))
    assert admit == sorted(admit)
    assert deny == sorted(deny, reverse=True)
    assert max(deny) < min(admit)


def test_a_rehearsal_gives_every_signal_and_ends_ready() -> None:
    from threading import Event

    from hardware.fakes import FakeIndicator

    lamp = FakeIndicator()
    rehearse(lamp, Event(), pause_s=0)
    assert lamp.shown == [*Signal, Signal.READY]
