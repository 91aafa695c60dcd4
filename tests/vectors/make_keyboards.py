"""Generates keyboards.json with libxkbcommon and the X Keyboard Configuration Database, to verify our layout tables.

It simulates a wedge scanner set to a US keyboard and records what each layout makes of every key that a code
may need. Run it with `python -m tests.vectors.make_keyboards` where both are installed; the tests read the file only.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("keyboards.json")
TEXT = "MAY1ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
PREFIXES = ("", "]Q1", "\\000026", "]Q2\\000026")
ROWS = {10: "1234567890", 24: "QWERTYUIOP", 38: "ASDFGHJKL", 52: "ZXCVBNM", 35: "]", 51: "\\"}
KEYCODES = {key: first + place for first, row in ROWS.items() for place, key in enumerate(row)}
SHIFT, CAPS_LOCK = 50, 66
LAYOUTS = (
    *[
        "us",
        "pl",
        "ro",
        "lv",
        "gb",
        "ie",
        "de",
        "at",
        "ch",
        "ch:fr",
        "fr",
        "fr:latin9",
        "be",
        "cz",
        "cz:qwerty",
        "sk",
        "sk:qwerty",
        "hu",
        "hu:qwerty",
        "pl:qwertz",
        "hr",
        "si",
    ],
    *[
        "rs:latin",
        "al",
        "es",
        "it",
        "pt",
        "latam",
        "is",
        "dk",
        "fi",
        "no",
        "se",
        "ee",
        "nl",
        "ca",
        "br",
        "lt",
        "tr",
        "tr:f",
        "us:dvorak",
        "us:colemak",
        "ru",
        "ua",
    ],
)
# How the scanner holds Shift, and whether Caps Lock is on.
HABITS = {
    "shift with letters": ("letters", False),
    "no shift": ("never", False),
    "shift with letters, caps lock": ("letters", True),
    "no shift, caps lock": ("never", True),
    "shift held, as by a shift lock": ("always", False),
}


class Names(ctypes.Structure):
    """struct xkb_rule_names."""

    _fields_ = tuple((name, ctypes.c_char_p) for name in ("rules", "model", "layout", "variant", "options"))


class Keyboard:
    """One layout of libxkbcommon."""

    def __init__(self, library: ctypes.CDLL, layout: str) -> None:
        """Compile the layout, named like `ch` or `ch:fr`."""
        name, _, variant = layout.partition(":")
        names = Names(b"evdev", b"pc105", name.encode(), variant.encode(), b"")
        context = ctypes.c_void_p(library.xkb_context_new(0))
        keymap = ctypes.c_void_p(library.xkb_keymap_new_from_names(context, ctypes.byref(names), 0))
        self.library, self.state = library, ctypes.c_void_p(library.xkb_state_new(keymap))

    def press(self, key: int) -> None:
        """Press a key."""
        self.library.xkb_state_update_key(self.state, key, 1)

    def release(self, key: int) -> None:
        """Release a key."""
        self.library.xkb_state_update_key(self.state, key, 0)

    def type(self, key: str, shift: bool) -> str:
        """The character that the key types; nothing for a dead key."""
        if shift:
            self.press(SHIFT)
        code = self.library.xkb_state_key_get_utf32(self.state, KEYCODES[key])
        if shift:
            self.release(SHIFT)
        return chr(code) if code else ""


def typed(keyboard: Keyboard, text: str, shift: str, caps: bool) -> str:
    """The whole text, typed with one way of shifting."""
    if caps:
        keyboard.press(CAPS_LOCK)
        keyboard.release(CAPS_LOCK)
    return "".join(keyboard.type(key, shift == "always" or (shift == "letters" and key.isalpha())) for key in text)


def cases(library: ctypes.CDLL) -> Iterator[dict[str, str]]:
    """Every layout with every way of shifting and every prefix."""
    for layout in LAYOUTS:
        for habit, (shift, caps) in HABITS.items():
            for prefix in PREFIXES:
                text = typed(Keyboard(library, layout), prefix + TEXT, shift, caps)
                yield {"layout": layout, "habit": habit, "prefix": prefix, "typed": text}


def xkbcommon() -> ctypes.CDLL:
    """The library with the types of its functions."""
    library: Any = ctypes.CDLL("libxkbcommon.so.0")
    for function in (library.xkb_context_new, library.xkb_keymap_new_from_names, library.xkb_state_new):
        function.restype = ctypes.c_void_p
    loaded: ctypes.CDLL = library
    return loaded


if __name__ == "__main__":
    witness = {"made_by": "tests/vectors/make_keyboards.py", "text": TEXT, "cases": list(cases(xkbcommon()))}
    FILE.write_text(json.dumps(witness, indent=1) + "\n", encoding="ascii")
