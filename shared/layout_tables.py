"""What each keyboard layout types for the 36 keys that ticket codes use."""

from __future__ import annotations

from dataclasses import dataclass

KEYS = "1234567890QWERTYUIOPASDFGHJKLZXCVBNM"
"""The keys in the order of each row below, named as on a US keyboard."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A keyboard layout: what its keys type alone and with Shift."""

    name: str
    plain: str
    shifted: str


def _latin(name: str, shifted_digits: str, letters: str, digits: str = "1234567890") -> Layout:
    return Layout(name, digits + letters, shifted_digits + letters.upper())


_QWERTY = "qwertyuiopasdfghjklzxcvbnm"
_QWERTZ = "qwertzuiopasdfghjklyxcvbnm"
_AZERTY = "azertyuiopqsdfghjklwxcvbn,"

# The shifted digits matter if Caps Lock works as shift lock. Layouts that type the same are listed once.
# \u0131 is the Turkish i without a dot.
LAYOUTS = (
    _latin("US, Polish, Romanian, Latvian", "!@#$%^&*()", _QWERTY),
    _latin("British, Irish", '!"£$%^&*()', _QWERTY),
    _latin("German, Austrian", '!"§$%&/()=', _QWERTZ),
    _latin("Swiss, Luxembourg", '+"*ç%&/()=', _QWERTZ),
    Layout("French", "&é\"'(-è_çà" + _AZERTY, "1234567890AZERTYUIOPQSDFGHJKLWXCVBN?"),
    Layout("Belgian, French on a Mac", "&é\"'(§è!çà" + _AZERTY, "1234567890AZERTYUIOPQSDFGHJKLWXCVBN?"),
    _latin("Czech", "1234567890", _QWERTZ, "+ěščřžýáíé"),
    _latin("Czech, QWERTY", "1234567890", _QWERTY, "+ěščřžýáíé"),
    _latin("Slovak", "1234567890", _QWERTZ, "+ľščťžýáíé"),
    _latin("Slovak, QWERTY", "1234567890", _QWERTY, "+ľščťžýáíé"),
    _latin("Hungarian", "'\"+!%/=()Ö", _QWERTZ, "123456789ö"),
    _latin("Hungarian, QWERTY", "'\"+!%/=()Ö", _QWERTY, "123456789ö"),
    _latin("Polish typewriter, Croatian, Slovene, Serbian Latin", '!"#$%&/()=', _QWERTZ),
    _latin("Polish typewriter on Windows", '!"#¤%&/()=', _QWERTZ),
    _latin("Albanian", '!"#$%^&*()', _QWERTZ),
    _latin("Spanish", '!"·$%&/()=', _QWERTY),
    _latin("Italian", '!"£$%&/()=', _QWERTY),
    _latin("Portuguese, Latin American, Icelandic", '!"#$%&/()=', _QWERTY),
    _latin("Danish, Finnish, Norwegian, Swedish, Estonian", '!"#¤%&/()=', _QWERTY),
    _latin("Danish, Finnish, Norwegian, Swedish on a Mac", '!"#€%&/()=', _QWERTY),
    _latin("Dutch", "!\"#$%&_()'", _QWERTY),
    _latin("Brazilian", "!@#$%¨&*()", _QWERTY),
    _latin("Canadian French", '!"/$%?&*()', _QWERTY),
    _latin("Lithuanian", "ĄČĘĖĮŠŲŪ()", _QWERTY, "ąčęėįšųū„“"),
    _latin("Turkish Q", "!'^+%&/()=", "qwertyu\u0131opasdfghjklzxcvbnm"),
    Layout("Turkish F", "1234567890fgğ\u0131odrnhpuieaütkmljövcçzs", "!\"^$%&'()=FGĞIODRNHPUİEAÜTKMLJÖVCÇZS"),
    Layout("US Dvorak", "1234567890',.pyfgcrlaoeuidhtn;qjkxbm", '!@#$%^&*()"<>PYFGCRLAOEUIDHTN:QJKXBM'),
    Layout("US Colemak", "1234567890qwfpgjluy;arstdhneizxcvbkm", "!@#$%^&*()QWFPGJLUY:ARSTDHNEIZXCVBKM"),
    _latin("Russian", '!"№;%:?*()', "йцукенгшщзфывапролдячсмить"),
    _latin("Ukrainian", '!"№;%:?*()', "йцукенгшщзфівапролдячсмить"),
)
