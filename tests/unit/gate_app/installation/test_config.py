"""The settings are checked as a whole, and all mistakes are reported together."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate_app.installation.config import read_config
from hardware.pins.options import Fail
from shared.errors import SettingsError

ROOT = Path(__file__).parents[4]


def written(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text)
    return path


def test_without_a_file_everything_has_a_value(tmp_path: Path) -> None:
    config = read_config(tmp_path / "gate.toml")
    assert (config.screen_port, config.readers, config.allow_time_travel) == (8100, (), False)


def test_the_sample_in_the_documentation_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/gate.md").read_text()
    sample = page.split("```toml\n")[1].split("```")[0]
    config = read_config(written(tmp_path, sample))
    assert [reader.kind for reader in config.readers] == ["camera", "keyboard"]


def test_the_samples_of_devices_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/gate-hardware.md").read_text()
    configs = [read_config(written(tmp_path, block.split("```")[0])) for block in page.split("```toml\n")[1:]]
    kinds = [reader.kind for config in configs for reader in config.readers]
    assert {"usb", "serial"} <= set(kinds)
    (pins,) = [config for config in configs if config.pins.relay is not None]
    assert (pins.signals.pins.relay, pins.signals.pins.fail, pins.signals.loudness) == (5, Fail.SECURE, 70)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[pins]\nrelay = 5", "say what the barrier does without power"),
        ("[pins]\ngreen = 17\nred = 17", "two things are wired to one pin"),
        ("[pins]\ngreen = 40", "pins.green"),
        ("[pins]\nblue = 5", "pins.blue"),
        ('[[readers]]\nkind = "usb"\nlayout = "cherokee"', "readers.0.layout"),
        ('[[readers]]\nkind = "serial"\nbaud = 9601', "readers.0.baud"),
        ('[[readers]]\nkind = "phone"\ndirection = "exit"', "said when it is paired"),
        ('[[readers]]\nkind = "camera"\nregion = [50, 0, 60, 100]', "region is left, top, width and height"),
    ],
)
def test_wrong_wiring_is_one_line_that_says_what(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_config(written(tmp_path, text))
    assert says in refused.value.message
    assert "\n" not in refused.value.message


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    text = 'screen_port = 99999\nbarier = "fake"\n[[readers]]\nkind = "telepathy"\n'
    with pytest.raises(SettingsError) as refused:
        read_config(written(tmp_path, text))
    assert all(name in refused.value.message for name in ("screen_port", "barier", "readers.0.kind"))


def test_a_file_that_is_not_toml_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"not a TOML file.*line 1"):
        read_config(written(tmp_path, "screen_port: 8100"))


def test_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_GATE_SCREEN_PORT", "8200")
    assert read_config(written(tmp_path, "screen_port = 8300")).screen_port == 8200
