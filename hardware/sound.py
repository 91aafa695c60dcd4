"""Beeps: generated as small WAV files and played by any installed player."""

import math
import shutil
import subprocess
import sys
import tempfile
import wave
from array import array
from collections.abc import Sequence
from pathlib import Path

from hardware.patterns import TONES, Tone
from hardware.ports import DeviceError, Signal

RATE = 22_050
LOUDNESS = 70
EDGE_MS = 4
PLAYERS: tuple[tuple[str, ...], ...] = (("aplay", "-q"), ("paplay",), ("pw-play",))
REMEDY = "Install a player (Debian: alsa-utils) and check that a loudspeaker is connected, or turn sound off."


def find_player(path: str | None = None) -> list[str]:
    """The command that plays a WAV file; `path` replaces PATH. Raises DeviceError if there is none."""
    for command, *options in PLAYERS:
        found = shutil.which(command, path=path)
        if found:
            return [found, *options]
    raise DeviceError("sound", "This machine has no program that plays sound.", REMEDY)


def samples(tone: Tone, loudness: int = LOUDNESS) -> "array[int]":
    """16-bit samples of a tone, so loud in percent, with soft edges; a hard edge would click."""
    loudest = 32_767 * loudness / 100
    count = RATE * tone.millis // 1000
    edge = RATE * EDGE_MS // 1000
    step = 2 * math.pi * tone.hertz / RATE
    envelope = (min(1.0, n / edge, (count - n) / edge) for n in range(count))
    return array("h", (round(loudest * e * math.sin(step * n)) for n, e in enumerate(envelope)))


def write_wav(file: Path, tones: Sequence[Tone], loudness: int = LOUDNESS) -> None:
    """Writes consecutive tones as a mono WAV file."""
    sound = array("h")
    for tone in tones:
        sound.extend(samples(tone, loudness))
    if sys.byteorder == "big":
        sound.byteswap()
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(sound.tobytes())


class Sound:
    """An Indicator that beeps. Call `open()` first; a new sound stops the one still playing."""

    def __init__(self, player: Sequence[str], loudness: int = LOUDNESS) -> None:
        """`loudness` is in percent; 0 is quiet."""
        self._player = tuple(player)
        self._loudness = loudness
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._playing: subprocess.Popen[bytes] | None = None

    def open(self) -> "Sound":
        """Writes the files once, so that a beep only costs starting a process."""
        self._folder = tempfile.TemporaryDirectory(prefix="gatehouse-sound-")
        self._write()
        return self

    def set_loudness(self, percent: int) -> None:
        """From the next beep on it is so loud; 0 is quiet. Raises DeviceError."""
        changed, self._loudness = percent != self._loudness, percent
        if not percent:
            self._quieten()
        elif changed:
            self._write()

    def show(self, signal: Signal) -> None:
        """Starts the beep of a signal, if it has one. Raises DeviceError if the last beep was not played."""
        failed = self._failed()
        file = self._file(signal)
        if TONES[signal] and self._loudness:
            self._quieten()
            self._start(file)
        if failed:
            raise DeviceError("sound", "The last beep was not played.", REMEDY)

    def close(self) -> None:
        self._quieten()
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def _write(self) -> None:
        try:
            for signal, tones in TONES.items():
                write_wav(self._file(signal), tones, self._loudness)
        except OSError as why:
            raise DeviceError("sound", f"The beeps could not be made ({why.strerror}).", "Free some space.") from why

    def _file(self, signal: Signal) -> Path:
        if self._folder is None:
            raise DeviceError("sound", "The loudspeaker is closed.", "Start the gate again.")
        return Path(self._folder.name) / f"{signal.value}.wav"

    def _start(self, file: Path) -> None:
        try:
            self._playing = subprocess.Popen(
                [*self._player, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as why:
            raise DeviceError("sound", f"The player could not be started ({why.strerror}).", REMEDY) from why

    def _failed(self) -> bool:
        """Whether the last player failed; true only once."""
        outcome = self._playing.poll() if self._playing else None
        if outcome is None:
            return False
        self._playing = None
        return outcome != 0

    def _quieten(self) -> None:
        playing, self._playing = self._playing, None
        if playing is not None:
            playing.kill()
            playing.wait()
