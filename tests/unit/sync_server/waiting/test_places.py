"""Places for readers: visitors are refused first, one address cannot take all, and gates keep theirs."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from shared.errors import Unavailable
from sync_server.waiting.handing_over import ReaderKind
from sync_server.waiting.places import Places

GATE, STAFF, VISITOR = ReaderKind.GATE, ReaderKind.BROWSER, ReaderKind.VISITOR


def test_visitors_are_refused_first_and_gates_last() -> None:
    places = Places(10, 100)
    with ExitStack() as taken:
        for kind, count in ((VISITOR, 8), (STAFF, 1), (GATE, 1)):
            for _ in range(count):
                taken.enter_context(places.taking(kind, "192.0.2.1"))
            with pytest.raises(Unavailable) as refusal:
                taken.enter_context(places.taking(kind, "192.0.2.1"))
            assert refusal.value.details == {"retry_after": 5}
    assert places.taken == 0


def test_one_address_has_a_share_but_its_gates_do_not_count() -> None:
    places = Places(100, 2)
    with ExitStack() as taken:
        for _ in range(2):
            taken.enter_context(places.taking(VISITOR, "192.0.2.1"))
        with pytest.raises(Unavailable):
            taken.enter_context(places.taking(VISITOR, "192.0.2.1"))
        taken.enter_context(places.taking(GATE, "192.0.2.1"))
        taken.enter_context(places.taking(VISITOR, "192.0.2.2"))


def test_a_place_is_free_again_after_an_error() -> None:
    places = Places(10, 10)
    with pytest.raises(ZeroDivisionError), places.taking(VISITOR, "192.0.2.1"):
        _ = 1 / 0
    assert places.taken == 0


def test_a_proxy_that_is_not_trusted_brings_everybody() -> None:
    places = Places(100, 1)
    with places.taking(VISITOR, "10.0.0.7"), places.taking(VISITOR, "10.0.0.7"):
        assert places.taken == 2
