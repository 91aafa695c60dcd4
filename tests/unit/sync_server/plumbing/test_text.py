"""Names are stored as people see them."""

from __future__ import annotations

import pytest

from sync_server.plumbing.language.text import all_as_shown, as_shown


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("Cafe\u0301", "Caf\u00e9"),  # composed
        ("Night\u202e cisuM", "Night cisuM"),  # turned round
        ("\u2067Night\u2069", "Night"),
        ("Ni\u200bght\ufeff", "Night"),
        ("Ni\u200dght", "Night"),  # a joiner in a script that has none
        ("\u200b\u2060", ""),
        ("\u3164\u2800 \u200d", ""),  # nothing of it shows
        ("\u0301", ""),
        ("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",) * 2,  # Persian needs the joiner
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3",) * 2,  # and so does Sinhala
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467",) * 2,  # one family
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",) * 2,  # England
        ("\u5bfa\u5bb6 \U0001f3ab",) * 2,
    ],
)
def test_a_name_as_it_is_stored(sent: str, stored: str) -> None:
    assert as_shown(sent) == stored == as_shown(stored)


def test_secrets_and_what_belongs_to_programs_stay_as_sent() -> None:
    given = {"password": "a\u0301", "settings": {"a": "\u200b"}}
    body = {"name": "a\u0301\u200b", "seats": [{"row": "\u200bA\u0308"}], **given}
    assert all_as_shown(body) == {**given, "name": "\u00e1", "seats": [{"row": "\u00c4"}]}
