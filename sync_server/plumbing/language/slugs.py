"""Makes slugs and short codes from names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import count


def slug_of(name: str, taken: Callable[[str], bool], nameless: str = "event") -> str:
    """A slug of the name that is not taken; `nameless` where the name has no Latin letter or digit."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-") or nameless
    return next(slug for slug in _numbered(base, "-") if not taken(slug))


def code_of(slug: str, taken: Callable[[str], bool]) -> str:
    """A short code of capital letters and digits from the slug that is not taken."""
    base = re.sub(r"[^A-Z0-9]", "", slug.upper())[:8] or "EVENT"
    return next(code for code in _numbered(base.ljust(2, "X"), "") if not taken(code))


def _numbered(base: str, joint: str) -> Iterator[str]:
    yield base
    for number in count(2):
        yield f"{base}{joint}{number}"
