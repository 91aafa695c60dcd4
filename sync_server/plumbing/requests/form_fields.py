"""Fields of forms that take one line: whatever is sent in their place is stored as one line that can be shown."""

from __future__ import annotations

import re
from typing import Final

from flask import request

from sync_server.plumbing.language.text import as_shown
from sync_server.plumbing.storable_json import visible

_BREAK: Final = re.compile(r"\s*[\t\n\r]\s*")


def typed_line(name: str, longest: int) -> str:
    """What was typed, as it is stored; browsers send one line, programs may send anything."""
    return _BREAK.sub(" ", as_shown(visible(request.form.get(name, "")))).strip()[:longest].rstrip()
