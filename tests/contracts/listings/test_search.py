"""Search finds the same events on both databases, whatever people type."""

from __future__ import annotations

from itertools import product

import pytest
from sqlalchemy import text

from sync_server.listings import search_strategy
from tests.contracts.listings.town import FEED, Town

CORPUS = {
    "Émilie Söngs": {"city": "Zürich", "venue": "Café de l\u2019Été"},
    "Emil und die Detektive": {"city": "Berlin", "category": "Theater"},
    "Rock 🎸 Night": {"category": "Rock"},
    "Rock'n'Roll OR bust": {"category": "Rock"},
    "AC/DC-Tribute: 100% (live)": {"city": "Łódź"},
    "Straße der Großen": {"city": "Köln"},
    "Ночь музыки": {"city": "Київ"},
    "東京 Jazz 2026": {"city": "東京"},
    "न्यू म्यूज़िक": {"city": "Pune"},
    "NOT NEAR AND": {},
    "1e5 watts at 3.14": {"category": "Noise"},
    f"One {' '.join('bcdefghijklmnopqs')} Two": {"category": "Letters"},
}
LONG = [next(name for name in CORPUS if name.startswith("One"))]
EMIL = ["Émilie Söngs", "Emil und die Detektive"]
ROCK = ["Rock 🎸 Night", "Rock'n'Roll OR bust"]

FINDS = {
    "emil": EMIL,
    "EMIL": EMIL,
    "emilie": EMIL[:1],
    "e\u0301milie": EMIL[:1],
    "emi det": [],
    "emil det": EMIL[1:],
    "det emil": [],  # only the last word may be a prefix
    "sö": EMIL[:1],
    "zurich": EMIL[:1],
    "cafe été": EMIL[:1],
    "l'ete": EMIL[:1],
    "theater": EMIL[1:],
    "rock": ROCK,
    "🎸": ROCK[:1],
    "rock 🎸": ROCK[:1],
    "❤️": [],
    "rock'n'roll": ROCK[1:],
    '"rock night"': ROCK[:1],
    '"rock': ROCK,
    "rock OR emil": [],
    "or": ROCK[1:],
    "not": ["NOT NEAR AND"],
    "NOT near": ["NOT NEAR AND"],
    "NEAR(rock, 2)": [],
    "rock -night": ROCK[:1],
    "rock & night": ROCK[:1],
    "rock | emil": [],
    "!rock": ROCK,
    "rock:*": ROCK,
    "ro*": ROCK,
    "words:rock": [],
    "^rock": ROCK,
    "(rock": ROCK,
    "rock')": ROCK,
    "rock\\": ROCK,
    "'; DROP TABLE listings; --": [],
    "ac/dc": ["AC/DC-Tribute: 100% (live)"],
    "100%": ["AC/DC-Tribute: 100% (live)"],
    "lodz": ["AC/DC-Tribute: 100% (live)"],
    "strasse": ["Straße der Großen"],
    "GROSSEN": ["Straße der Großen"],
    "музыки": ["Ночь музыки"],
    "НОЧЬ": ["Ночь музыки"],
    "東": ["東京 Jazz 2026"],
    "न्यू": ["न्यू म्यूज़िक"],
    "202": ["東京 Jazz 2026"],
    "1e5": ["1e5 watts at 3.14"],
    "3.14": ["1e5 watts at 3.14"],
    "one b c d e f g h i j k l m n o p q s tw": LONG,
    "one b c d e f g h i j k l m n o p q s to": [],
    "b c n": LONG,
    "rock rock rock": ROCK,
    "\x00rock\x00": ROCK,
    "rock\nnight\t": ROCK[:1],
    "%": [],
    '""': [],
    "*": [],
    "'": [],
    "x" * 5_000: [],
    "rock " * 1_000: ROCK,
    " ".join(f"w{n}" for n in range(900)): [],
    "é" * 5_000: [],
    "🎸" * 5_000: ROCK[:1],
    "(" * 5_000: [],
}


#: COMMON and SCAN_FACTOR that force each strategy.
STRATEGIES = {
    "along the feed": (0.02, 100),
    "from the index": (2.0, 100),
    "by rare words from the index": (0.15, 100),
    "from the index after a scan": (0.0, 0),
}


def test_the_same_words_find_the_same_events(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every strategy, on both databases."""
    for day, (name, fields) in enumerate(CORPUS.items(), 1):
        event = town.publish(name, days=day, **fields)
        if day == 2:
            town.sell(event, 1)
    town.work()
    wrong = {}
    for strategy, sort in product(STRATEGIES, ("latest", "trending")):
        for name, value in zip(("COMMON", "SCAN_FACTOR"), STRATEGIES[strategy], strict=True):
            monkeypatch.setattr(search_strategy, name, value)
        town.clear_caches()
        for typed, names in FINDS.items():
            found = town.find(sort=sort, q=typed)
            if sorted(found) != sorted(names):
                wrong[strategy, sort, typed[:40]] = found
        first = town.page(sort=sort, q="rock", limit=1)
        second = town.page(sort=sort, q="rock", limit=1, after=first["next"])
        assert ([page["items"][0]["name"] for page in (first, second)], second["next"]) == (ROCK, None), (
            strategy,
            sort,
        )
        assert town.find(sort=sort, q="rock", category="theater") == town.find(sort=sort, q="rock", city="Köln") == []
    assert wrong == {}
    assert town.refused(FEED, q="x" * 5_001) == (400, "invalid_request")


def test_removed_words_are_no_longer_found(town: Town) -> None:
    event = town.publish("Night Music", city="Berlin")
    path = f"/api/events/{event['id']}"
    town.api.patch(path, {"name": "Day Music", "category": "Chamber"})
    assert [len(town.find(q=word)) for word in ("night", "day", "chamber", "berlin")] == [0, 1, 1, 1]
    town.change_status(event, "cancel")
    assert town.find(q="day") == []
    town.advance(2 * 3_600_000)
    town.app_server.run_worker()
    with town.app_server.database.writing() as session:
        assert session.execute(text("SELECT count(*) FROM listings")).scalar_one() == 0
        if town.app_server.database.embedded:  # the index agrees with the listings, or this raises
            session.execute(text("INSERT INTO listing_words (listing_words, rank) VALUES ('integrity-check', 1)"))
