"""Spans of what the server does; where nobody collects them they cost a call that does nothing."""

from __future__ import annotations


class Span:
    """One step while it is under way, as a context; this one records nothing."""

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def note(self, **attributes: int | str) -> None:
        """Add what is known only now: numbers and words of our own, never what a client wrote."""

    def link(self, header: str) -> None:
        """Point to the step of another trace, by its `traceparent`."""


NOTHING = Span()


class Spans:
    """Makes spans; these record nothing."""

    on = False

    def span(self, name: str, **attributes: int | str) -> Span:
        """A step within the one that this thread is in, or the first of the trace that it works for."""
        del name, attributes
        return NOTHING

    def request(self, name: str, caller: str, **attributes: int | str) -> Span:
        """The step of a request; `caller` is the `traceparent` that came with it."""
        del name, caller, attributes
        return NOTHING

    def close(self) -> None:
        """Send what is left."""


NO_SPANS = Spans()
