"""Which of the codes in view are delivered: each once while it is held up, and one ticket at a time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hardware.ports import anything
from hardware.vision.stages import Found

# A code that was not seen for so long has left the picture; shown again it is delivered again. Shorter gaps are a hand
# that trembles or a reflection.
LEFT_AFTER_NS = 1_000_000_000
# A ticket that was seen beside another is meant only if it is then held up alone for so long.
ALONE_NS = 400_000_000

LooksRight = Callable[[str], bool]


@dataclass(slots=True)
class _Sighting:
    """A code in view, and since when it is missing or has been waiting for its turn."""

    delivered: bool = False
    missing_since: int | None = None
    alone_since: int | None = None


@dataclass(slots=True)
class Sightings:
    """The codes in view of one camera. `wanted` tells tickets from posters and drinks cans."""

    wanted: LooksRight = anything
    _seen: dict[str, _Sighting] = field(default_factory=dict)

    def take(self, found: Iterable[Found], now: int, *, glimpsed: bool) -> tuple[str | None, bool]:
        """The text to deliver, if there is one, and whether several tickets are in view."""
        codes = list(found)
        self._forget({code.text for code in codes}, now, glimpsed=glimpsed)
        tickets = [code for code in codes if self.wanted(code.text)]
        several = len(tickets) > 1
        for code in codes:
            self._note(code.text, now, alone=not several)
        return self._next(tickets or codes, now, beside=codes if tickets else []), several

    def _forget(self, texts: set[str], now: int, *, glimpsed: bool) -> None:
        """Lets go of what has left. A code that is seen but cannot be read may be any of them, so none has left."""
        for text, sighting in list(self._seen.items()):
            if text in texts or glimpsed:
                sighting.missing_since = None
            elif sighting.missing_since is None:
                sighting.missing_since = now
            elif now - sighting.missing_since >= LEFT_AFTER_NS:
                del self._seen[text]

    def _note(self, text: str, now: int, *, alone: bool) -> None:
        sighting = self._seen.setdefault(text, _Sighting(alone_since=now - ALONE_NS if alone else None))
        if not alone:
            sighting.alone_since = None
        elif sighting.alone_since is None:
            sighting.alone_since = now

    def _next(self, codes: list[Found], now: int, beside: list[Found]) -> str | None:
        """The largest is the one that is held out. While it stays in view, the others wait."""
        if any(self._seen[code.text].delivered for code in codes):
            return None
        several = len(codes) > 1
        due = [code for code in codes if several or self._is_alone(code.text, now)]
        chosen = max(due, key=lambda code: code.size, default=None)
        if chosen is None:
            return None
        self._seen[chosen.text].delivered = True
        # What stands beside a ticket on the same paper is no attempt to come in.
        for code in beside:
            if not self.wanted(code.text):
                self._seen[code.text].delivered = True
        return chosen.text

    def _is_alone(self, text: str, now: int) -> bool:
        since = self._seen[text].alone_since
        return since is not None and now - since >= ALONE_NS
