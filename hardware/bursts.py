"""Assembles codes from single keys, as keyboard-wedge scanners type them."""

from collections.abc import Iterator

ENDS = frozenset("\r\n\t")
ERASES = frozenset("\x7f\b")

# A scanner leaves 1 to 20 ms between keys; nobody types 32 keys without one pause of 80 ms.
PAUSE_ENDS_NS = 80_000_000
PAUSE_ENDS_FROM = 32
# An abandoned half-typed code must not be joined to the next guest's code.
FORGOTTEN_AFTER_NS = 10_000_000_000
LONGEST = 8_192


class KeyBursts:
    """Collects keys until Enter, Tab or a scanner's pause. Without I/O: the caller brings keys and times."""

    def __init__(self, pause_ends: bool = True) -> None:
        self._pause_ends = pause_ends
        self._keys: list[str] = []
        self._last_ns = 0

    def keys(self, text: str, at_ns: int) -> Iterator[str]:
        """Takes keys that arrived together and yields the codes they complete."""
        finished = self.pause(at_ns)
        if finished is not None:
            yield finished
        if self._keys and at_ns - self._last_ns > FORGOTTEN_AFTER_NS:
            self._keys.clear()
        self._last_ns = at_ns
        for key in text:
            code = self._key(key)
            if code:
                yield code

    def pause(self, now_ns: int) -> str | None:
        """The code that a scanner without an Enter key has completed by pausing."""
        long_enough = len(self._keys) >= PAUSE_ENDS_FROM
        if self._pause_ends and long_enough and now_ns - self._last_ns >= PAUSE_ENDS_NS:
            return self._take()
        return None

    def end(self) -> str | None:
        """The remaining keys when the input is closed."""
        return self._take() or None

    def _key(self, key: str) -> str | None:
        if key in ENDS:
            return self._take()
        if key in ERASES:
            del self._keys[-1:]
            return None
        self._keys.append(key)
        return self._take() if len(self._keys) >= LONGEST else None

    def _take(self) -> str:
        code = "".join(self._keys)
        self._keys.clear()
        return code
