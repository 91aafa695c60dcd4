"""The scripts of seat maps have no words of their own: each names texts that the page hands over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_server.admin.door.seats import SCRIPT_TEXTS as LIVE_TEXTS
from sync_server.admin.page import TEXTS
from sync_server.admin.seat_map_pages import SCRIPT_TEXTS, _modules
from sync_server.plumbing.language.texts import translator
from tests.architecture.tree import ROOT

SCRIPTS = sorted((ROOT / "sync_server/static/editor").glob("*.js"))
LIVE = ROOT / "sync_server/static/seats.js"
"""The map of who sits where, whose texts stand under a name of their own."""
COMMENT = re.compile(r"(?:^|\s)// [^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
NOT_SPOKEN = re.compile(
    r"^import .*$|(?:querySelector(?:All)?|closest|matches)(?:\?\.)?\(\"[^\"]*\"\)|className: \"[^\"]*\"|"
    r"const SIDES = .*|headers[:=].*|sent\[.*",
    re.MULTILINE,
)
"""Addresses of modules, selectors, classes, headers, and the names by which blocks are recognised as mirrored."""
LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|`(?:[^`\\]|\\.)*`")
FILLED_IN = re.compile(r"\$\{[^}]*\}")
SENTENCE = re.compile(r"[^\W\d_]{2,},? [^\W\d_]{2,}|^[^\w]*[A-Z][a-z]+ ?$|[^\W\d_] ?$(?<=[.:…])")
KEYS = {"Delete", "Backspace", "Escape", "Enter", "Tab", "Shift", "Control"}
SPEAKS = re.compile(
    r"(?:(?:told|say|run|Option|Error|#put)\(\s*|(?:textContent|words|where|title|placeholder)(?: =|:) )[\"`](?![\"`$])"
)
PLACES = re.compile(r"#put\(\"(?:rows|table|area|stage)\"")
"""Tools by name, which nobody reads."""
NAMED = re.compile(r"(?<![\w.])t\((?:[^()]|\([^()]*\))*?\"([a-z_.]+)\"(?: : \"([a-z_.]+)\")?")
PUT_TOGETHER = re.compile(r"(?<![\w.])t\(`([a-z_.]+)\$\{")


def loose_words(script: str) -> Iterator[str]:
    """What staff would read or hear that does not come from the texts."""
    plain = PLACES.sub("", NOT_SPOKEN.sub("", COMMENT.sub("", script)))
    yield from SPEAKS.findall(plain)
    for literal in LITERAL.findall(plain):
        said = FILLED_IN.sub(" ", literal[1:-1])
        if SENTENCE.search(said) and said not in KEYS:
            yield said


@pytest.mark.parametrize("script", [*SCRIPTS, LIVE], ids=lambda path: path.stem)
def test_scripts_have_no_words_of_their_own(script: Path) -> None:
    assert [*loose_words(script.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "script",
    ['this.told("Saved.");', 'name: "Stalls" });', "words = `${n} seats chosen`;", 'actions.run("move", command);'],
)
def test_loose_words_are_found(script: str) -> None:
    assert [*loose_words(script)] != []


def test_every_text_that_a_script_names_exists_and_every_text_is_named() -> None:
    known = translator(TEXTS, "en").for_script(SCRIPT_TEXTS).keys()
    content = "\n".join(COMMENT.sub("", path.read_text("utf-8")) for path in SCRIPTS)
    named = {key for found in NAMED.findall(content) for key in found if key}
    beginnings = tuple(PUT_TOGETHER.findall(content))
    assert named - known == set()
    assert {key for key in known - named if not key.startswith(beginnings)} == set()


def test_every_text_of_the_live_map_is_named_by_its_script() -> None:
    known = translator(TEXTS, "en").for_script(LIVE_TEXTS).keys()
    content = LIVE.read_text("utf-8")
    assert {key for key in known if f'"{key}"' not in content} == set()


def test_a_page_preloads_all_that_the_editor_imports() -> None:
    found = _modules(str(ROOT / "sync_server/static"))
    assert {"editor/page.js", "seat-map/seat-layer.js", "picker/words.js"} <= set(found), "of every folder"
    assert all((ROOT / "sync_server/static" / name).is_file() for name in found)
    assert {path.name for path in SCRIPTS} == {Path(name).name for name in found if name.startswith("editor/")}
