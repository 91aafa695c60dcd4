"""Assembles codes from single keys, as keyboard-wedge scanners type them."""

from collections.abc import Callable, Iterator

from hardware.ports import nothing

ENDS = frozenset("\r\n\t\x03")  # the last, ETX, is what serial scanners end a frame with
ERASES = frozenset("\x7f\b")

# A scanner leaves 1 to 20 ms between keys; nobody types 32 keys without one pause of 80 ms.
PAUSE_ENDS_NS = 80_000_000
PAUSE_ENDS_FROM = 32
# Where nobody types, fewer keys are a code too; and one that ends its codes with Enter may pause in the middle of one.
SCANNED_FROM = 4
PAUSE_ENDS_SCAN_NS = 200_000_000
PAUSE_IN_SCAN_NS = 1_500_000_000
# An abandoned half-typed code must not be joined to the next guest's code.
FORGOTTEN_AFTER_NS = 10_000_000_000
LONGEST = 8_192


class KeyBursts:
    """Collects keys until Enter, Tab or a scanner's pause. Without I/O: the caller brings keys and times."""

    def __init__(
        self, pause_ends: bool = True, from_keys: int = PAUSE_ENDS_FROM, pause_ns: int = PAUSE_ENDS_NS
    ) -> None:
        self._pause_ends = pause_ends
        self._from_keys = from_keys
        self._pause_ns = pause_ns
        self._learns = False
        self._whole: Callable[[str], bool] = nothing
        self._keys: list[str] = []
        self._last_ns = 0

    @classmethod
    def of_scanner(cls, whole: Callable[[str], bool] = nothing) -> "KeyBursts":
        """The keys of one scanner and nobody else: it shows by itself whether it ends its codes with Enter.

        If it once did and no longer does, `whole` tells a whole code, which a pause ends, from the first part of one.
        """
        bursts = cls(from_keys=SCANNED_FROM, pause_ns=PAUSE_ENDS_SCAN_NS)
        bursts._learns, bursts._whole = True, whole
        return bursts

    def away(self, nanos: int) -> None:
        """Nobody looked for so long: no pause of the scanner's, because keys may have been waiting."""
        self._last_ns += nanos

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
        if not self._pause_ends or len(self._keys) < self._from_keys:
            return None
        paused = now_ns - self._last_ns
        if paused >= self._pause_ns or (paused >= PAUSE_ENDS_SCAN_NS and self._whole("".join(self._keys))):
            return self._take()
        return None

    def end(self) -> str | None:
        """The remaining keys when the input is closed."""
        return self._take() or None

    def _key(self, key: str) -> str | None:
        if key in ENDS:
            if self._learns and self._keys:
                self._pause_ns = PAUSE_IN_SCAN_NS
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
