"""The operator's wishes for this gate: one frozen value, read from gate.toml and the environment, checked whole."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from shared.errors import SettingsError


class ReaderWish(BaseModel):
    """One reader of this gate; several may stand side by side."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["camera", "usb", "serial", "keyboard", "fake"]
    name: str = ""
    source: str = ""
    direction: Literal["entry", "exit"] | None = None  # none: as the server assigned
    width: int = Field(default=1280, ge=160, le=7680)
    height: int = Field(default=720, ge=120, le=4320)


class Config(BaseSettings):
    """Everything that may be set; a name that is not here is a mistake, not a wish."""

    model_config = SettingsConfigDict(env_prefix="GATEHOUSE_GATE_", frozen=True, extra="forbid")

    readers: tuple[ReaderWish, ...] = ()
    indicators: tuple[str, ...] = ()
    barrier: str = "none"
    screen_host: str = "127.0.0.1"
    screen_port: int = Field(default=8100, ge=0, le=65535)
    screen_names: tuple[str, ...] = ()
    allow_time_travel: bool = False
    repeat_ms: int | None = Field(default=None, ge=0, le=60_000)
    sync_wait_s: int = Field(default=25, ge=0, le=55)
    push_every_s: float = Field(default=1.0, ge=0.05, le=300)
    ca_file: str | None = None
    least_free_mb: int = Field(default=100, ge=1)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file; nothing else is asked."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def read_config(path: Path) -> Config:
    """The settings of the file, if there is one, and of the environment. Raises SettingsError with all mistakes."""
    try:
        return Config(**_written(path))
    except ValidationError as why:
        raise SettingsError(_all_mistakes(path, why)) from why


def config_or_none_of_it(path: Path) -> tuple[Config, str]:
    """For whoever only looks: the settings, or the defaults and words about what is wrong with them."""
    try:
        return read_config(path), ""
    except SettingsError as why:
        return Config.model_construct(), why.message


def _written(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise SettingsError(f"{path} is not a TOML file: {why}.") from why
    except OSError as why:
        raise SettingsError(f"{path} cannot be read: {why.strerror}.") from why


def _all_mistakes(path: Path, why: ValidationError) -> str:
    mistakes = [f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}" for error in why.errors()]
    return f"The settings in {path} or GATEHOUSE_GATE_… do not work. " + "; ".join(mistakes) + "."
