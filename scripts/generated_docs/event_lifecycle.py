"""Makes docs/event-lifecycle.md from the one table of statuses and transitions."""

from __future__ import annotations

from shared.lifecycle import ALLOWS, EventStatus, diagram

FILE = "docs/event-lifecycle.md"

HEAD = """\
# The life of an event

Made from `shared/lifecycle.py` by `scripts/check --fix`; server and gates read that one table. What is not drawn here
is refused with `invalid_transition` and changes nothing.

```mermaid
{diagram}
```

| status | sells tickets | scans for real | is shown to the public |
|---|---|---|---|
"""


def text() -> str:
    """The whole page."""
    return HEAD.format(diagram=diagram()) + "".join(map(_row, EventStatus))


def _row(status: EventStatus) -> str:
    allowed = ALLOWS[status]
    return f"| {status} | {_word(allowed.sell)} | {allowed.scan} | {_word(allowed.show)} |\n"


def _word(allowed: bool) -> str:
    return "yes" if allowed else "no"
