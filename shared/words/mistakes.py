"""What is wrong with a field, a setting or an argument, in people's words instead of the validator's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

FORMS: Final = {
    "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$": "must be an id: 32 hexadecimal digits in five groups",
    "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$": "must be small letters, digits and hyphens, such as night-music",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "must be a date, such as 2027-05-14",
    r"^https?://[^\s/?#]+\.?[^\s]*$": "must be an address, such as https://example.org",
    r"^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?"
    r"|http://(?:localhost|127\.0\.0\.1)(?::[0-9]{1,5})?)$": (
        "must be a website without a path, such as https://band.example"
    ),
    "^[A-Z0-9]{2,12}$": "must be 2 to 12 capital letters and digits",
    "^[A-Za-z0-9._~-]+$": "must be letters, digits, and . _ ~ -",
    "^[A-Za-z0-9_-]+$": "must be letters, digits, hyphens and underscores",
    "^[a-z]{2}(-[A-Z]{2})?$": "must be a language, such as en or de-AT",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": "must be an e-mail address, such as ada@example.org",
    "^#[0-9a-fA-F]{6}$": "must be a colour, such as #1f4e79",
    r"^[^\t\n\r]*$": "must be one line, without line breaks and tabs",
    "^[A-Z]{3}$": "must be the three letters of a currency, such as EUR",
}
"""What has such a pattern; others are counted out by `_form`."""
_COUNTED: Final = re.compile(r"^\^\[0-9a-f\]\{([0-9,]+)\}\$$")
_CHOICES: Final = re.compile(r"^\^\((\w+(?:\|\w+)+)\)\(,\(\1\)\)\*\$$")

_WORDS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = tuple(
    (re.compile(rf"^(?:{pattern})$"), words)
    for pattern, words in (
        (r"Value error, (.*)", lambda found: found[1]),
        (r"Extra inputs are not permitted", lambda _: "is not a field of this request"),
        (r"Field required", lambda _: "is missing"),
        (r"String should match pattern '(.*)'", lambda found: _form(found[1])),
        (r"Input should be a valid string.*", lambda _: "must be text"),
        (r"Input should be a valid integer.*", lambda _: "must be a whole number"),
        (r"Input should be a valid number.*", lambda _: "must be a number"),
        (r"Input should be a finite number", lambda _: "must be a number"),
        (r"Input should be a valid boolean.*", lambda _: "must be true or false"),
        (r"Input should be a valid list", lambda _: "must be a list"),
        (r"Input should be a valid dictionary", lambda _: "must be an object"),
        (r"Input should be greater than or equal to (.*)", lambda found: f"must be at least {found[1]}"),
        (r"Input should be less than or equal to (.*)", lambda found: f"must be at most {found[1]}"),
        (r"Input should be greater than (.*)", lambda found: f"must be more than {found[1]}"),
        (r"Input should be less than (.*)", lambda found: f"must be less than {found[1]}"),
        (r"Input should be ('.*)", lambda found: f"must be {found[1]}"),
        (r"String should have at least 1 character", lambda _: "must not be empty"),
        (r"String should have at (least|most) (\d+) characters?", lambda found: _length(found, "character")),
        (r"\w+ should have at (least|most) (\d+) items?.*", lambda found: _length(found, "entry", "entries")),
    )
)


def in_words(problem: str) -> str:
    """The validator's message, unless there are better words."""
    if "dictionary or instance of" in problem:
        return "Send one JSON object"
    for pattern, words in _WORDS:
        if found := pattern.match(problem):
            return words(found)
    return problem


def usage_line(program: str, message: str) -> str:
    """What is wrong with a command line, as one line that says where to read more."""
    said = " ".join(message.split())
    where, colon, problem = said.partition("': ")
    if colon:
        said = f"{where}{colon}{in_words(problem)}"
    return f"{program}: {said.removesuffix('.')}. Try --help."


def _form(pattern: str) -> str:
    if found := _COUNTED.match(pattern):
        return f"must be {found[1].replace(',', ' to ')} of the digits 0 to 9 and a to f"
    if found := _CHOICES.match(pattern):
        return f"must be one or several of {', '.join(found[1].split('|'))}, with commas between them"
    return FORMS.get(pattern, f"must have the form {pattern}")


def _length(found: re.Match[str], one: str, many: str = "") -> str:
    return f"must have at {found[1]} {found[2]} {one if found[2] == '1' else many or one + 's'}"
