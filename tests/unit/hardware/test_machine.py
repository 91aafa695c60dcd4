"""What a machine tells of itself, read from a system as Linux lays it out, and from one that tells nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardware.machine import MachineState, machine_state


def silent() -> str:
    """No firmware answers."""
    return ""


def a_system(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / "sys/class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return root


def test_a_machine_that_tells_nothing_is_not_said_to_be_well(tmp_path: Path) -> None:
    assert machine_state(tmp_path, silent) == MachineState()


def test_its_hottest_part_counts_and_broken_sensors_do_not(tmp_path: Path) -> None:
    zones = {"thermal/thermal_zone0/temp": "48300", "thermal/thermal_zone1/temp": "61250"}
    broken = {"thermal/thermal_zone2/temp": "-274000", "thermal/thermal_zone3/temp": "n/a"}
    assert machine_state(a_system(tmp_path, zones | broken), silent).celsius == 61.25


@pytest.mark.parametrize(
    ("said", "weak", "slow"),
    [("throttled=0x0", False, False), ("throttled=0x50005", True, True), ("throttled=0x50000", False, False)],
)
def test_the_firmware_tells_of_weak_power_now_not_of_earlier(tmp_path: Path, said: str, weak: bool, slow: bool) -> None:
    state = machine_state(tmp_path, lambda: said)
    assert (state.under_voltage, state.throttled) == (weak, slow)


def test_without_the_firmwares_program_the_kernel_tells(tmp_path: Path) -> None:
    files = {"hwmon/hwmon0/name": "cpu_thermal", "hwmon/hwmon1/name": "rpi_volt", "hwmon/hwmon1/in0_lcrit_alarm": "1"}
    assert machine_state(a_system(tmp_path, files), silent).under_voltage is True


def test_the_battery_is_the_machines_own_and_not_that_of_its_mouse(tmp_path: Path) -> None:
    mouse = {"power_supply/AAA/type": "Battery", "power_supply/AAA/scope": "Device", "power_supply/AAA/capacity": "7"}
    own = {"power_supply/BAT0/type": "Battery", "power_supply/BAT0/capacity": "63"}
    system = a_system(tmp_path, mouse | own | {"power_supply/BAT0/status": "Discharging"})
    state = machine_state(system, silent)
    assert (state.battery_percent, state.on_battery) == (63, True)
