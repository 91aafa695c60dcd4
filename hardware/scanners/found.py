"""Finds the scanners that are plugged in, by names that stay the same in every socket."""

from collections.abc import Sequence
from pathlib import Path

from hardware.ports import DeviceError

KEYBOARDS = Path("/dev/input/by-id")
LINES = Path("/dev/serial/by-id")
CHOOSE = 'Name one in the settings, source = "…"; a part of its name is enough.'


def keyboards(folder: Path = KEYBOARDS) -> list[str]:
    """The names of everything on USB that types, scanners among them."""
    return _names(folder, "*-event-kbd")


def serial_lines(folder: Path = LINES) -> list[str]:
    """The names of the serial lines on USB."""
    return _names(folder, "*")


def path_of(source: str, folder: Path, known: Sequence[str], device: str) -> Path:
    """The path that `source` names: a path, a part of one name, or nothing where only one is there.

    Raises DeviceError if it is missing or not the only one.
    """
    if source.startswith("/"):
        if Path(source).exists():
            return Path(source)
        raise DeviceError(device, f"There is no {source}.", "Plug the scanner in; the gate finds it by itself.")
    found = [name for name in known if source.lower() in name.lower()]
    if len(found) == 1:
        return folder / found[0]
    there = ", ".join(known) or "none"
    if found:
        raise DeviceError(device, f"Several scanners could be meant; connected: {there}.", CHOOSE)
    named = f" with “{source}” in its name" if source else ""
    remedy = "Plug it in; the gate finds it by itself."
    raise DeviceError(
        device, f"No scanner{named} is connected; connected: {there}.", f"{remedy} {CHOOSE}" if known else remedy
    )


def may_not_open(device: str, path: Path, why: OSError, group: str) -> DeviceError:
    """What to do about a scanner that is there but cannot be opened."""
    if isinstance(why, PermissionError):
        remedy = f"Add this user to the group: sudo usermod --append --groups {group} USER, then start the gate again."
        return DeviceError(device, f"This user may not read {path}.", remedy)
    if isinstance(why, FileNotFoundError) or why.errno in {6, 19}:  # ENXIO and ENODEV: just unplugged
        return DeviceError(device, "The scanner is unplugged.", "Plug it in again; the gate finds it by itself.")
    remedy = "Stop the other program that uses it, or plug it out and in again."
    return DeviceError(device, f"{path} cannot be opened ({why.strerror}).", remedy)


def _names(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))
