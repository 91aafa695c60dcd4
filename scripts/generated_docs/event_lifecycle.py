"""Generates docs/event-lifecycle.md from the table of statuses and transitions."""

from __future__ import annotations

from shared.lifecycle import ALLOWS, EventStatus, diagram

FILE = "docs/event-lifecycle.md"

HEAD = """\
# The lifecycle of an event

Generated from `shared/lifecycle.py` by `scripts/check --fix`; server and gates use the same table. Any other transition
is refused with `invalid_transition` and changes nothing.

```mermaid
{diagram}
```

| status | tickets on sale | real scans | shown to the public |
|---|---|---|---|
"""


def text() -> str:
    """The whole page."""
    return HEAD.format(diagram=diagram()) + "".join(map(_row, EventStatus))


def _row(status: EventStatus) -> str:
    allowed = ALLOWS[status]
    return f"| {status} | {_yes_no(allowed.sell)} | {allowed.scan} | {_yes_no(allowed.show)} |\n"


def _yes_no(allowed: bool) -> str:
    return "yes" if allowed else "no"
