"""What the keys of a keyboard type, by the kernel's numbers for them and the layout that a scanner is set to."""

from collections.abc import Mapping
from typing import Final

# The rows of keys that print something, each from its first number on (linux/input-event-codes.h).
_FIRST_OF_ROW = (2, 16, 30, 43)
_ROWS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "us": (
        ("1234567890-=", "!@#$%^&*()_+"),
        ("qwertyuiop[]", "QWERTYUIOP{}"),
        ("asdfghjkl;'`", 'ASDFGHJKL:"~'),
        ("\\zxcvbnm,./", "|ZXCVBNM<>?"),
    ),
    "de": (
        ("1234567890ß\u00b4", '!"§$%&/()=?`'),
        ("qwertzuiopü+", "QWERTZUIOPÜ*"),
        ("asdfghjklöä^", "ASDFGHJKLÖÄ°"),
        ("#yxcvbnm,.-", "'YXCVBNM;:_"),
    ),
    "fr": (
        ("&é\"'(-è_çà)=", "1234567890°+"),
        ("azertyuiop^$", "AZERTYUIOP¨£"),
        ("qsdfghjklmù²", "QSDFGHJKLM%~"),
        ("*wxcvbn,;:!", "µWXCVBN?./§"),
    ),
}
_ALT_GR: Final[Mapping[str, Mapping[int, str]]] = {
    "us": {},
    "de": {8: "{", 9: "[", 10: "]", 11: "}", 12: "\\", 16: "@"},
    "fr": {3: "~", 4: "#", 5: "{", 6: "[", 7: "|", 8: "`", 9: "\\", 10: "^", 11: "@", 12: "]", 13: "}"},
}

LAYOUTS: Final = tuple(_ROWS)
DIGITS_OF_KEYPAD: Final[Mapping[int, str]] = dict(
    zip((82, 79, 80, 81, 75, 76, 77, 71, 72, 73), "0123456789", strict=True)
)
_EVERYWHERE: Final = {28: "\r", 96: "\r", 15: "\t", 57: " ", 14: "\b", 55: "*", 74: "-", 78: "+", 98: "/", 83: "."}

SHIFTS: Final = frozenset({42, 54})
CONTROLS: Final = frozenset({29, 97})
ALT, ALT_GR, CAPS_LOCK = 56, 100, 58


def plain(layout: str) -> dict[int, str]:
    """What each key types alone."""
    return _rows(layout, 0) | _EVERYWHERE | dict(DIGITS_OF_KEYPAD)


def shifted(layout: str) -> dict[int, str]:
    """What each key types with Shift."""
    return _rows(layout, 1) | _EVERYWHERE | dict(DIGITS_OF_KEYPAD)


def with_alt_gr(layout: str) -> Mapping[int, str]:
    """What each key types with the right Alt key."""
    return _ALT_GR[layout]


def _rows(layout: str, level: int) -> dict[int, str]:
    return {
        first + place: typed
        for first, row in zip(_FIRST_OF_ROW, _ROWS[layout], strict=True)
        for place, typed in enumerate(row[level])
    }
