"""The scripts of the seat-map editor have no words of their own: each names texts that the page hands over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_server.admin.page import TEXTS
from sync_server.admin.seat_map_pages import SCRIPT_TEXTS
from sync_server.plumbing.texts import translator
from tests.architecture.tree import ROOT

SCRIPTS = sorted((ROOT / "sync_server/static/editor").glob("*.js"))
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


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_of_the_editor_have_no_words_of_their_own(script: Path) -> None:
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
