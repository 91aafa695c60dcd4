"""Refused fields are explained in people's words, whatever the validator says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.words.mistakes import in_words, usage_line
from tests.app_server import AppServer

SAID_BY_VALIDATORS = ("should", "Input", "String", "pattern", "permitted", "Value error")


class Sale(BaseModel):
    """One field of each kind."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=3)] = "a"
    email: Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")] = "a@b.example"
    count: Annotated[int, Field(ge=1, le=10)] = 1
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    seats: Annotated[list[str], Field(min_length=1, max_length=2)] = ["A-1"]
    method: Literal["cash", "card"] = "cash"
    printed: bool = False
    settings: dict[str, str] = {}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "must not be empty"),
        ("name", "long", "must have at most 3 characters"),
        ("name", 5, "must be text"),
        ("email", "ada", "must be an e-mail address, such as ada@example.org"),
        ("count", 0, "must be at least 1"),
        ("count", 11, "must be at most 10"),
        ("count", "1", "must be a whole number"),
        ("share", 0, "must be more than 0"),
        ("share", 1, "must be less than 1"),
        ("share", "x", "must be a number"),
        ("seats", [], "must have at least 1 entry"),
        ("seats", ["a", "b", "c"], "must have at most 2 entries"),
        ("seats", "a", "must be a list"),
        ("method", "bitcoin", "must be 'cash' or 'card'"),
        ("printed", "yes", "must be true or false"),
        ("settings", [], "must be an object"),
        ("colour", "red", "is not a field of this request"),
    ],
)
def test_a_mistake_is_told_in_words(field: str, value: Any, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Sale.model_validate({field: value})
    assert [in_words(problem["msg"]) for problem in refused.value.errors()] == [words]


def test_whatever_has_a_form_has_words_for_it(sqlite_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path)
    forms = set(_patterns(app_server.app.spec))
    app_server.close()
    assert len(forms) > 10
    told = {form: in_words(f"String should match pattern '{form}'") for form in forms}
    bad = [form for form, words in told.items() if form in words or any(word in words for word in SAID_BY_VALIDATORS)]
    assert bad == []


def _patterns(described: Any) -> list[str]:
    if isinstance(described, list):
        return [form for part in described for form in _patterns(part)]
    if not isinstance(described, dict):
        return []
    own = [described["pattern"]] if isinstance(described.get("pattern"), str) else []
    return own + [form for part in described.values() for form in _patterns(part)]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("No such option: --frist", "gate: No such option: --frist. Try --help."),
        ("Missing argument 'url'.", "gate: Missing argument 'url'. Try --help."),
        (
            "Invalid value for '--port': Input should be less than or equal to 65535",
            "gate: Invalid value for '--port': must be at most 65535. Try --help.",
        ),
        (
            "Invalid value for '--mode': Value error, 'x' is not one of 'real', 'test'",
            "gate: Invalid value for '--mode': 'x' is not one of 'real', 'test'. Try --help.",
        ),
    ],
)
def test_a_mistake_in_a_command_line_is_one_line(message: str, line: str) -> None:
    assert usage_line("gate", message) == line
