"""Settings are validated before anything opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import SettingsError
from sync_server.config import Config, check, load

SAMPLE = Path(__file__).parents[3] / "docs" / "gatehouse-server.sample.toml"


def test_the_default_is_an_embedded_database() -> None:
    config = load({})
    assert config.embedded and config.database_file == Path("var/gatehouse.db")
    assert config.key_file == Path("var/master.key") and not config.secure_cookies


def test_the_sample_file_shows_the_defaults_and_names_every_setting() -> None:
    assert load({"GATEHOUSE_CONFIG": str(SAMPLE)}) == load({"GATEHOUSE_MASTER_KEY_FILE": "var/master.key"})
    text = SAMPLE.read_text(encoding="utf-8")
    assert [name for name in Config.model_fields if f"{name} = " not in text] == []


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('log_level = "error"\nsession_hours = 3\n')
    config = load({"GATEHOUSE_CONFIG": str(file), "GATEHOUSE_SESSION_HOURS": "5"})
    assert (config.log_level, config.session_hours) == ("error", 5)


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(SettingsError) as error:
        check({"database_url": "mysql://x", "session_hours": 0, "log_level": "loud", "colour": "red"})
    for name in ("DATABASE_URL", "SESSION_HOURS", "LOG_LEVEL", "COLOUR"):
        assert f"GATEHOUSE_{name}:" in error.value.message


@pytest.mark.parametrize("content", [None, "not = = toml", "unknown = 1"])
def test_a_file_that_cannot_be_used(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "server.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError):
        load({"GATEHOUSE_CONFIG": str(file)})


def test_an_absolute_path_of_the_database_stays_absolute() -> None:
    assert check({"database_url": "sqlite:////srv/g.db"}).key_file == Path("/srv/master.key")


def test_a_metrics_address_is_a_host_and_a_port() -> None:
    assert check({"metrics_address": "127.0.0.1:9464"}).metrics_endpoint == ("127.0.0.1", 9464)
    assert check({}).metrics_endpoint == ("127.0.0.1", 9464)
    assert check({"metrics_address": "off"}).metrics_endpoint is None
    assert check({"metrics_address": "[::1]:9464"}).metrics_endpoint == ("::1", 9464)
    for wrong in (
        "127.0.0.1",
        ":9464",
        "localhost:0",
        "localhost:99999",
        "me@localhost:9464",
        "localhost:9464/metrics",
    ):
        with pytest.raises(SettingsError, match="HOST:PORT"):
            check({"metrics_address": wrong})


def test_settings_do_not_change_while_the_server_runs() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load({}).log_level = "debug"  # type: ignore[misc]


@pytest.mark.parametrize(
    "address",
    [
        "postgres://olga:hidden@db/gatehouse",
        "postgresql://olga:hid/den@db/gatehouse",
        "postgresql://olga:hidden@db:port/gatehouse",
        "sqlite:gatehouse.db",
        "sqlite://gatehouse.db",
        "sqlite:///",
        "sqlite:///:memory:",
    ],
)
def test_an_invalid_url_is_reported_without_its_password(address: str) -> None:
    with pytest.raises(SettingsError, match="GATEHOUSE_DATABASE_URL: ") as error:
        check({"database_url": address})
    assert "hid" not in error.value.message
