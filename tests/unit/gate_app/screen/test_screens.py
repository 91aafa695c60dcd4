"""A link makes one browser a screen; a supervisor ends it, and it never shows a name by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gate_app.supervision.screens import LINK_MS, NAMES_MS, SCREEN_MS, Role, Screens
from shared.errors import Forbidden
from tests.gate_builders import GateAtHome, a_gate, chance


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


@pytest.fixture
def screens(gate: GateAtHome) -> Screens:
    return opened(gate)


def opened(gate: GateAtHome) -> Screens:
    return Screens(gate.context.database, chance("screens"), lambda: gate.hands.true)


def refusal(screens: Screens, token: str) -> str:
    with pytest.raises(Forbidden) as why:
        screens.pair(token)
    return why.value.error_code


def test_a_link_pairs_one_browser_once(screens: Screens) -> None:
    link = screens.link(Role.STEWARD)
    screen = screens.of(screens.pair(link))
    assert screen is not None
    assert screen.role is Role.STEWARD
    assert refusal(screens, link) == "link_used"


class Meanwhile:
    """The gate's clock. While somebody is being paired it is read, and in that moment something else happens."""

    def __init__(self, gate: GateAtHome) -> None:
        self._gate = gate
        self.happens: list[Callable[[], object]] = []

    def __call__(self) -> int:
        while self.happens:
            self.happens.pop()()
        return self._gate.hands.true


@pytest.mark.parametrize("role", [Role.STEWARD, Role.READER])
def test_of_two_browsers_that_show_one_link_at_the_same_moment_one_is_paired(gate: GateAtHome, role: Role) -> None:
    now = Meanwhile(gate)
    screens = Screens(gate.context.database, chance("screens"), now)
    link, kept = screens.link(role), list[str]()
    now.happens.append(lambda: kept.append(screens.pair(link)))
    assert refusal(screens, link) == "link_used"
    assert screens.of(kept[0]) in screens.paired()
    assert len(screens.paired()) == 1


def test_two_telephones_that_are_paired_at_the_same_moment_have_two_numbers(gate: GateAtHome) -> None:
    now = Meanwhile(gate)
    screens = Screens(gate.context.database, chance("screens"), now)
    links = [screens.link(Role.READER, name) for name in ("side door", "stairs")]
    now.happens.append(lambda: screens.pair(links[1]))
    screens.pair(links[0])
    names = {"phone 1 stairs", "phone 2 side door"}
    assert {screen.name for screen in screens.paired()} == names
    assert {screen.name for screen in opened(gate).paired()} == names


def test_a_link_that_nobody_opened_ends_after_ten_minutes(gate: GateAtHome, screens: Screens) -> None:
    link = screens.link(Role.STEWARD)
    gate.hands.pass_ms(LINK_MS)
    assert refusal(screens, link) == "link_expired"


def test_a_steward_cannot_make_a_supervisor_of_a_link(screens: Screens) -> None:
    assert refusal(screens, screens.link(Role.STEWARD).replace("steward", "supervisor")) == "bad_link"


@pytest.mark.parametrize("token", ["", ".", "a.b.c.d", "a.steward.9999999999999.\u00e9\ud800"])
def test_what_is_no_link_is_refused(screens: Screens, token: str) -> None:
    assert refusal(screens, token) == "bad_link"


def test_a_browser_that_invents_what_it_keeps_is_no_screen(screens: Screens) -> None:
    kept = screens.pair(screens.link(Role.STEWARD))
    number = kept.partition(".")[0]
    for forged in ("", number, f"{number}.", f"{number}.{'0' * 64}", kept + "0"):
        assert screens.of(forged) is None


def test_a_paired_screen_survives_a_restart_and_ends_with_the_shift(gate: GateAtHome, screens: Screens) -> None:
    kept = screens.pair(screens.link(Role.SUPERVISOR))
    gate.crash()
    again = opened(gate)
    assert again.of(kept) is not None
    gate.hands.pass_ms(SCREEN_MS)
    assert again.of(kept) is None


def test_a_lost_telephone_is_removed_at_once_and_for_good(gate: GateAtHome, screens: Screens) -> None:
    link = screens.link(Role.STEWARD)
    kept = screens.pair(link)
    (screen,) = screens.paired()
    screens.remove(screen.id)
    assert screens.of(kept) is None
    assert screens.paired() == []
    gate.crash()
    assert opened(gate).of(kept) is None
    assert refusal(opened(gate), link) == "link_used"


def test_names_are_shown_for_an_hour_at_most(gate: GateAtHome, screens: Screens) -> None:
    kept = screens.pair(screens.link(Role.STEWARD))
    assert not screens.shows_names(screens.of(kept))
    (screen,) = screens.paired()
    screens.show_names(screen.id)
    assert screens.shows_names(screens.of(kept))
    gate.hands.pass_ms(NAMES_MS)
    assert not screens.shows_names(screens.of(kept))
