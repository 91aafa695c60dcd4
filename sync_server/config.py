"""The server's settings: from GATEHOUSE_* or a TOML file, frozen, and checked whole before anything opens."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shared.errors import SettingsError

PREFIX = "GATEHOUSE_"


def _scheme(*allowed: str) -> AfterValidator:
    def check(url: str) -> str:
        if urlsplit(url).scheme not in allowed:
            raise ValueError(f"must begin with {' or '.join(name + ':' for name in allowed)}")
        return url

    return AfterValidator(check)


class Config(BaseModel):
    """Every setting of the server; the sample file names each with its meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: Annotated[str, _scheme("sqlite", "postgresql")] = "sqlite:///var/gatehouse.db"
    redis_url: Annotated[str, _scheme("redis", "rediss", "unix")] | None = None
    redis_prefix: Annotated[str, Field(pattern="^[a-z0-9_.-]{1,40}$")] = "gatehouse"
    amqp_url: Annotated[str, _scheme("amqp", "amqps")] | None = None
    mail_url: Annotated[str, _scheme("smtp", "smtps")] | None = None
    master_key_file: Path | None = None
    base_url: Annotated[str, _scheme("http", "https")] = "http://localhost:8000"
    trusted_proxies: Annotated[int, Field(ge=0, le=5)] = 0
    session_hours: Annotated[int, Field(ge=1, le=24 * 90)] = 12
    max_body_bytes: Annotated[int, Field(ge=64 * 1024, le=256 * 1024 * 1024)] = 8 * 1024 * 1024
    blocking_threads: Annotated[int, Field(ge=8, le=4096)] = 256
    database_connections: Annotated[int, Field(ge=2, le=1000)] = 40
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this machine: then one process serves and works."""
        return self.database_url.startswith("sqlite")

    @property
    def secure_cookies(self) -> bool:
        """Browsers send our cookies over TLS only, where TLS is used."""
        return self.base_url.startswith("https:")

    @property
    def key_file(self) -> Path:
        """Where the master key lies: where the settings say, else beside the database."""
        if self.master_key_file is not None:
            return self.master_key_file
        return self.database_file.with_name("master.key") if self.embedded else Path("var/master.key")

    @property
    def database_file(self) -> Path:
        """The file of an embedded database."""
        return Path(self.database_url.removeprefix("sqlite://").removeprefix("/"))


def load(environ: Mapping[str, str]) -> Config:
    """The settings of this environment; SettingsError lists all mistakes together."""
    named = {
        name.lower(): environ[PREFIX + name] for name in map(str.upper, Config.model_fields) if PREFIX + name in environ
    }
    file = environ.get(PREFIX + "CONFIG")
    return check((_read(Path(file)) if file else {}) | named)


def from_environment() -> Config:
    """The settings of this process."""
    return load(os.environ)


def check(settings: Mapping[str, Any]) -> Config:
    """A whole, valid Config, or SettingsError with every mistake in it."""
    try:
        return Config.model_validate(dict(settings))
    except ValidationError as mistakes:
        lines = [_sentence(mistake["loc"], mistake["msg"]) for mistake in mistakes.errors()]
        raise SettingsError("The settings do not work:\n" + "\n".join(lines), mistakes=lines) from None


def _sentence(place: tuple[int | str, ...], problem: str) -> str:
    return f"  {PREFIX}{'.'.join(map(str, place)).upper()}: {problem.removeprefix('Value error, ')}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError(f"The settings file {path} cannot be read: {problem}") from None
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"The settings file {path} is no valid TOML: {problem}") from None
