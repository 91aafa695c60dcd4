"""Words that code and pages have given up do not come back: docs/decisions/0024-words.md says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files, modules

#: Nobody means these by any other thing here, so they are banned everywhere, alone and as a part of a name.
RETIRED = (
    "bell",
    "crossing",
    "deed",
    "ear",
    "errand",
    "glance",
    "going_on",
    "house_plan",
    "lodge",
    "meanings",
    "patrol",
    "post_office",
    "programme",
    "said_ids",
    "selling_out",
    "stir",
    "tally",
    "throwaway",
)
#: These are ordinary English, and were also names of modules.
RETIRED_MODULES = {
    "asking",
    "book",
    "box_office",
    "following",
    "hall",
    "hanging",
    "house",
    "houses",
    "spots",
    "straight",
    "telling",
    "together",
}
#: Where a retired word means something else: (word, file) and why.
ALLOWED: dict[tuple[str, str], str] = {}
SUFFIXES = {".css", ".html", ".js", ".mako", ".md", ".py", ".sh", ".toml"}
HERE = Path(__file__).relative_to(ROOT)
TEXTS = [path for path in files() if path.suffix in SUFFIXES and "vendor" not in path.parts and path != HERE]


def plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def in_any_form(word: str) -> re.Pattern[str]:
    """In one number or the other, alone or as a part of a name: `deed`, `Deeds`, `a_deed`, `post-office`."""
    forms = "|".join((word, plural(word))).replace("_", "[ _-]")
    return re.compile(rf"(?<![A-Za-z])(?:{forms})(?![A-Za-z])", re.IGNORECASE)


@pytest.mark.parametrize("word", RETIRED)
def test_a_retired_word_stays_away(word: str) -> None:
    found = [str(path) for path in TEXTS if in_any_form(word).search((ROOT / path).read_text("utf-8"))]
    assert [path for path in found if (word, path) not in ALLOWED] == []


def test_no_module_has_a_retired_name() -> None:
    assert [str(path) for path in modules() if path.stem in RETIRED_MODULES] == []


def test_every_exception_is_still_needed() -> None:
    assert [place for place in ALLOWED if not in_any_form(place[0]).search((ROOT / place[1]).read_text("utf-8"))] == []
