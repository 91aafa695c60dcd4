"""The gate's time and its uncertainty, on machines without a battery clock."""

from __future__ import annotations

import pytest

from gate_app.clock.time_keeper import IMPLAUSIBLE_MS, UNSYNCED_MS, TimeKeeper, TimeSource
from tests.gate_builders import EVENING, HOUR, Hands

YEAR = 365 * 24 * HOUR


class Paper:
    """Stored values that survive a restart."""

    def __init__(self) -> None:
        self.kept: dict[str, str | int | bytes] = {}

    def put(self, name: str, value: str | int | bytes) -> None:
        self.kept[name] = value

    def get(self, name: str) -> str | int | bytes | None:
        return self.kept.get(name)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def paper() -> Paper:
    return Paper()


def a_keeper(paper: Paper, hands: Hands, boot: bytes = b"boot0001") -> TimeKeeper:
    return TimeKeeper(paper, hands.wall, hands.monotonic, boot)


def hear(keeper: TimeKeeper, hands: Hands, rtt: int = 40) -> None:
    sent = keeper.monotonic_ms()
    hands.pass_ms(rtt)
    keeper.hear(hands.true - rtt // 2, sent, keeper.monotonic_ms())


def test_the_servers_time_wins_over_a_wall_clock_that_is_an_hour_fast(paper: Paper, hands: Hands) -> None:
    hands.wall_error = HOUR
    keeper = a_keeper(paper, hands)
    hear(keeper, hands)
    now = keeper.now()
    assert abs(now.at - hands.true) <= now.uncertainty <= 25
    assert now.offset == pytest.approx(-HOUR, abs=30)
    assert now.source is TimeSource.SERVER


def test_uncertainty_grows_by_a_tenth_of_a_second_every_thousand(paper: Paper, hands: Hands) -> None:
    keeper = a_keeper(paper, hands)
    hear(keeper, hands, rtt=0)
    hands.pass_ms(1_000_000)
    assert keeper.now().uncertainty == 101


def test_a_clock_set_while_running_changes_nothing(paper: Paper, hands: Hands) -> None:
    keeper = a_keeper(paper, hands)
    hear(keeper, hands)
    hands.wall_error = -20 * YEAR
    assert abs(keeper.now().at - hands.true) < 30


def test_a_slow_answer_does_not_spoil_what_a_quick_one_reported(paper: Paper, hands: Hands) -> None:
    keeper = a_keeper(paper, hands)
    hear(keeper, hands, rtt=20)
    hear(keeper, hands, rtt=25_000)
    assert keeper.now().uncertainty < 50


def test_the_next_process_of_the_same_boot_knows_what_the_last_one_heard(paper: Paper, hands: Hands) -> None:
    hear(a_keeper(paper, hands), hands)
    hands.wall_error = 3 * HOUR
    hands.pass_ms(60_000)
    now = a_keeper(paper, hands).now()
    assert (now.source, abs(now.at - hands.true) < 100) == (TimeSource.SERVER, True)


def test_a_boot_in_1970_is_not_accepted(paper: Paper, hands: Hands) -> None:
    hear(a_keeper(paper, hands), hands)
    hands.pass_ms(10 * 60_000)
    hands.wall_error, hands.up = -hands.true, 3_000
    now = a_keeper(paper, hands, b"boot0002").now()
    assert now.source is TimeSource.FLOOR
    assert EVENING <= now.at <= hands.true
    assert now.uncertainty >= UNSYNCED_MS


def test_a_boot_in_2090_is_ignored_and_does_no_harm(paper: Paper, hands: Hands) -> None:
    hear(a_keeper(paper, hands), hands)
    hands.wall_error, hands.up = 64 * YEAR, 3_000
    lost = a_keeper(paper, hands, b"boot0002")
    assert abs(lost.now().at - hands.true) < HOUR
    lost.raise_floor()
    hands.wall_error, hands.up = 0, 3_000
    assert abs(a_keeper(paper, hands, b"boot0003").now().at - hands.true) < HOUR


def test_a_plausible_wall_clock_after_a_boot_is_used_but_not_trusted(paper: Paper, hands: Hands) -> None:
    hear(a_keeper(paper, hands), hands)
    hands.pass_ms(3 * 24 * HOUR)
    hands.up = 3_000
    now = a_keeper(paper, hands, b"boot0002").now()
    assert (now.source, now.at) == (TimeSource.WALL, hands.true)
    assert 3 * 24 * HOUR - HOUR <= now.uncertainty < IMPLAUSIBLE_MS


def test_the_servers_time_repairs_a_wrong_boot_at_once(paper: Paper, hands: Hands) -> None:
    hear(a_keeper(paper, hands), hands)
    hands.wall_error, hands.up = 64 * YEAR, 3_000
    keeper = a_keeper(paper, hands, b"boot0002")
    hear(keeper, hands)
    assert abs(keeper.now().at - hands.true) < 50


def test_a_person_sets_the_time_and_the_gate_says_so(paper: Paper, hands: Hands) -> None:
    hands.wall_error = -YEAR
    keeper = a_keeper(paper, hands)
    keeper.set_by_hand(hands.true + 20_000)
    now = keeper.now()
    assert (now.source, now.uncertainty) == (TimeSource.BY_HAND, 60_000)
    keeper.raise_floor()
    assert "time_floor" not in paper.kept, "a typing mistake must not lock the clock in the future"


def test_the_server_overrules_a_person(paper: Paper, hands: Hands) -> None:
    keeper = a_keeper(paper, hands)
    keeper.set_by_hand(hands.true + 30 * 60_000)
    hear(keeper, hands)
    assert keeper.now().source is TimeSource.SERVER


def test_a_server_whose_clock_was_put_right_is_followed(paper: Paper, hands: Hands) -> None:
    keeper = a_keeper(paper, hands)
    keeper.hear(hands.true - HOUR, keeper.monotonic_ms(), keeper.monotonic_ms())
    hear(keeper, hands)
    assert abs(keeper.now().at - hands.true) < 50
