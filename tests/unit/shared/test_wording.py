"""What was said once can be said again in another language, as a whole and in its parts."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.admission import decide
from shared.words.ago import ago
from shared.words.local_moments import local_moment
from shared.words.messages import TEXTS, say
from shared.words.wording import LANGUAGES, in_language, joined, wording
from tests.builders import EVENING, HOUR
from tests.unit.shared.test_admission_page import BEYOND_CASES

OTHERS = [language for language in LANGUAGES if language != "en"]


def test_a_message_is_its_english_text_to_whoever_asks_for_no_other() -> None:
    said = say("denied.gate_closed", gate="A")
    assert said == "Gate A is closed." and json.dumps([said]) == '["Gate A is closed."]'
    assert in_language(said, "en") == said


def test_values_that_are_messages_change_with_it() -> None:
    said = say("part.trace", when=local_moment(EVENING, EVENING), gate=say("part.another_gate"), ago=ago(2 * HOUR))
    assert said == "at 16:00 UTC at another gate, 2 hours ago"
    assert in_language(said, "de") == "um 16:00 UTC an einem anderen Gate, vor 2 Stunden"
    assert in_language(said, "fr") == "à 16:00 UTC par un autre accès, il y a 2 heures"


def test_messages_in_a_row_are_said_one_by_one_and_what_is_no_message_stays() -> None:
    row = joined(say("admitted.first"), "", "Ask Kim.", say("do.box_office"))
    assert row == "Admitted. Ask Kim. Send the guest to the box office."
    assert in_language(row, "de") == "Eingelassen. Ask Kim. Schicken Sie den Gast zur Kasse."


@dataclass(frozen=True)
class Shown:
    title: str
    lines: tuple[str, ...]
    number: int


def test_everything_in_a_view_is_said_in_the_language() -> None:
    shown = Shown(say("admitted.first"), (say("do.keep_out"), "A-12"), 3)
    assert in_language(shown, "af") == Shown("Toegelaat.", ("Moenie toelaat nie.", "A-12"), 3)


@pytest.mark.parametrize("said", [say("ago.days", n=2), joined(say("admitted.first"), say("do.sync"), by=" · ")])
def test_a_copy_can_be_said_again_too(said: str) -> None:
    again = copy.deepcopy(said)
    assert again == said and in_language(again, "fr") == in_language(said, "fr") != said


@pytest.mark.parametrize("language", OTHERS)
def test_no_verdict_keeps_an_english_word(language: str) -> None:
    english = {text for text in wording(TEXTS, "en").texts.values() if isinstance(text, str) and " " in text}
    for attempt in BEYOND_CASES:
        message = decide(attempt).message
        assert in_language(message, language) != message
        assert [text for text in english if text in in_language(message, language)] == []


def test_a_language_that_is_not_there_is_a_mistake_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        wording(tmp_path, "en")


def test_texts_that_cannot_be_read_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text("[keys]\n[keys]\n")
    with pytest.raises(ValueError, match=r"en\.toml: Cannot declare"):
        wording(tmp_path, "en")
