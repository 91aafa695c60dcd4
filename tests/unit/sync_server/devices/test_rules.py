"""What devices may do, and the states of codes."""

from __future__ import annotations

import pytest

from shared.errors import Conflict, Forbidden, InvalidRequest
from sync_server.devices import codes
from sync_server.devices.models import EnrolmentCode
from sync_server.devices.rules import (
    DeviceAction,
    DeviceState,
    is_silent,
    may,
    require,
    require_open_code,
    require_profile,
    state_of,
)

NOW = 1_000_000


def a_code(expires_at: int, attempts: int, used: bool = False, withdrawn: bool = False) -> EnrolmentCode:
    used_at, withdrawn_at = NOW if used else None, NOW if withdrawn else None
    return EnrolmentCode(expires_at=expires_at, tries_left=attempts, used_at=used_at, withdrawn_at=withdrawn_at)


def test_a_gate_pulls_and_pushes_a_spare_only_delivers() -> None:
    assert may("gate", DeviceAction.PULL)
    assert may("gate", DeviceAction.PUSH)
    assert not may("spare", DeviceAction.PULL)
    assert may("spare", DeviceAction.PUSH)


@pytest.mark.parametrize("profile", ["", "owner", "GATE", "from-the-future"])
def test_an_unknown_profile_may_do_nothing(profile: str) -> None:
    assert not any(may(profile, act) for act in DeviceAction)
    with pytest.raises(InvalidRequest):
        require_profile(profile)


def test_a_revoked_device_may_deliver_and_nothing_else() -> None:
    require("gate", True, DeviceAction.PUSH)
    with pytest.raises(Forbidden) as refusal:
        require("gate", True, DeviceAction.PULL)
    assert refusal.value.error_code == "device_revoked"


def test_revocation_wins_over_enrolment() -> None:
    assert state_of(None, None) is DeviceState.WAITING
    assert state_of(NOW, None) is DeviceState.ENROLLED
    assert state_of(NOW, NOW) is DeviceState.REVOKED


@pytest.mark.parametrize(
    ("expires_at", "attempts", "used", "withdrawn", "code"),
    [
        (NOW + 1, 0, False, False, "enrolment_code_dead"),
        (NOW, 5, False, False, "enrolment_code_expired"),
        (NOW + 1, 5, True, False, "enrolment_code_used"),
        (NOW + 1, 5, False, True, "enrolment_code_expired"),
    ],
)
def test_an_unusable_code_says_why(expires_at: int, attempts: int, used: bool, withdrawn: bool, code: str) -> None:
    with pytest.raises(Conflict) as refusal:
        require_open_code(codes.state_of(a_code(expires_at, attempts, used, withdrawn), NOW))
    assert refusal.value.error_code == code


def test_a_code_is_valid_until_it_expires() -> None:
    require_open_code(codes.state_of(a_code(NOW + 1, 1), NOW))


def test_a_device_is_silent_after_a_minute_and_before_its_first_contact() -> None:
    assert is_silent(NOW, None)
    assert not is_silent(NOW, NOW - 60_000)
    assert is_silent(NOW, NOW - 60_001)
