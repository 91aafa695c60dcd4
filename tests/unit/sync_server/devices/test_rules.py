"""What devices may, and what becomes of codes."""

from __future__ import annotations

import pytest

from shared.errors import Conflict, Forbidden, InvalidRequest
from sync_server.devices.rules import (
    Act,
    DeviceState,
    is_silent,
    may,
    require,
    require_open_code,
    require_profile,
    state_of,
)

NOW = 1_000_000


def test_a_gate_pulls_and_pushes_a_spare_only_delivers() -> None:
    assert may("gate", Act.PULL)
    assert may("gate", Act.PUSH)
    assert not may("spare", Act.PULL)
    assert may("spare", Act.PUSH)


@pytest.mark.parametrize("profile", ["", "owner", "GATE", "from-the-future"])
def test_a_profile_that_nobody_knows_may_do_nothing(profile: str) -> None:
    assert not any(may(profile, act) for act in Act)
    with pytest.raises(InvalidRequest):
        require_profile(profile)


def test_a_device_that_was_shut_out_may_deliver_and_nothing_else() -> None:
    require("gate", True, Act.PUSH)
    with pytest.raises(Forbidden) as refusal:
        require("gate", True, Act.PULL)
    assert refusal.value.error_code == "device_revoked"


def test_being_shut_out_wins_over_being_enrolled() -> None:
    assert state_of(None, None) is DeviceState.WAITING
    assert state_of(NOW, None) is DeviceState.ENROLLED
    assert state_of(NOW, NOW) is DeviceState.REVOKED


@pytest.mark.parametrize(
    ("expires_at", "tries", "used", "withdrawn", "code"),
    [
        (NOW + 1, 0, False, False, "enrolment_code_dead"),
        (NOW, 5, False, False, "enrolment_code_expired"),
        (NOW + 1, 5, True, False, "enrolment_code_used"),
        (NOW + 1, 5, False, True, "enrolment_code_expired"),
    ],
)
def test_a_code_says_why_it_opens_nothing(expires_at: int, tries: int, used: bool, withdrawn: bool, code: str) -> None:
    with pytest.raises(Conflict) as refusal:
        require_open_code(NOW, expires_at, tries, used, withdrawn)
    assert refusal.value.error_code == code


def test_a_code_is_open_until_its_last_moment() -> None:
    require_open_code(NOW, NOW + 1, 1, False, False)


def test_a_device_is_silent_after_a_minute_and_before_its_first_word() -> None:
    assert is_silent(NOW, None)
    assert not is_silent(NOW, NOW - 60_000)
    assert is_silent(NOW, NOW - 60_001)
