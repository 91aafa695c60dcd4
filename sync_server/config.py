"""The server's settings: from GATEHOUSE_* or a TOML file, frozen, and checked whole before anything opens."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shared.errors import SettingsError

PREFIX = "GATEHOUSE_"
OTHERS = ("GATEHOUSE_GATE_", "GATEHOUSE_TEST_")
"""Settings of the gate, and of tests: one machine may have them all."""


def _scheme(*allowed: str) -> AfterValidator:
    def check(url: str) -> str:
        if url.partition(":")[0] not in allowed:
            raise ValueError(f"must begin with {' or '.join(name + ':' for name in allowed)}")
        return url

    return AfterValidator(check)


def _address(url: str) -> str:
    """A mistake is told without the address: a password may be in it."""
    try:
        urlsplit(url).port  # noqa: B018 -- looks whether it is a number
    except ValueError:
        raise ValueError(
            "is no address: write SCHEME://USER:PASSWORD@HOST:PORT/NAME, with a number for the port, "
            "and %40, %3A, %2F for @, : and / in a password"
        ) from None
    return url


def _place(address: str) -> str:
    try:
        place = urlsplit(f"//{address}")
        fits = bool(place.hostname and place.port) and place.netloc == address and "@" not in address
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("is no place to listen at: write HOST:PORT, as 127.0.0.1:9464 or [::1]:9464")
    return address


def _file_or_server(url: str) -> str:
    if not url.startswith("sqlite"):
        return _address(url)
    if not url.startswith("sqlite:///") or "?" in url or url.removeprefix("sqlite:///") in {"", ":memory:"}:
        raise ValueError("names no file: write sqlite:///FOLDER/FILE, or sqlite:////FOLDER/FILE from the root")
    return url


class Config(BaseModel):
    """Every setting of the server; the sample file names each with its meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: Annotated[str, _scheme("sqlite", "postgresql"), AfterValidator(_file_or_server)] = (
        "sqlite:///var/gatehouse.db"
    )
    redis_url: Annotated[str, _scheme("redis", "rediss", "unix"), AfterValidator(_address)] | None = None
    redis_prefix: Annotated[str, Field(pattern="^[a-z0-9_.-]{1,40}$")] = "gatehouse"
    amqp_url: Annotated[str, _scheme("amqp", "amqps"), AfterValidator(_address)] | None = None
    mail_url: Annotated[str, _scheme("smtp", "smtps"), AfterValidator(_address)] | None = None
    master_key_file: Path | None = None
    base_url: Annotated[str, _scheme("http", "https"), AfterValidator(_address)] = "http://localhost:8000"
    trusted_proxies: Annotated[int, Field(ge=0, le=5)] = 0
    session_hours: Annotated[int, Field(ge=1, le=24 * 90)] = 12
    guests_per_address: Annotated[int, Field(ge=1)] = 3_000  # let in within five minutes
    max_body_bytes: Annotated[int, Field(ge=64 * 1024, le=256 * 1024 * 1024)] = 8 * 1024 * 1024
    short_notice_hours: Annotated[int, Field(ge=1, le=24 * 30)] = 24
    blocking_threads: Annotated[int, Field(ge=8, le=4096)] = 256
    database_connections: Annotated[int, Field(ge=2, le=1000)] = 40
    metrics_address: Annotated[str, AfterValidator(_place)] | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this machine: then one process serves and works."""
        return self.database_url.startswith("sqlite")

    @property
    def new(self) -> bool:
        """Whether nothing was kept here yet: then a master key may be made, and never beside what one has sealed."""
        return self.embedded and not (self.database_file.is_file() and self.database_file.stat().st_size)

    @property
    def secure_cookies(self) -> bool:
        """Browsers send our cookies over TLS only, where TLS is used."""
        return self.base_url.startswith("https:")

    @property
    def metrics_at(self) -> tuple[str, int] | None:
        """Host and port where each process tells its own measures; None: nowhere but at the server's address."""
        if self.metrics_address is None:
            return None
        place = urlsplit(f"//{self.metrics_address}")
        return place.hostname or "", place.port or 0

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
    return check((_read(Path(file)) if file else {}) | named | _strange(environ))


def _strange(environ: Mapping[str, str]) -> dict[str, str]:
    """What begins like a setting and is none: a slip of the pen must not be a server with other settings."""
    ours = {PREFIX + name.upper() for name in Config.model_fields} | {PREFIX + "CONFIG"}
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and not name.startswith(OTHERS) and name not in ours
    }


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
    name = ".".join(map(str, place))
    if name not in Config.model_fields:
        near = get_close_matches(name, Config.model_fields, n=1)
        problem = "there is no such setting" + (f"; did you mean {PREFIX}{near[0].upper()}?" if near else "")
    return f"  {PREFIX}{name.upper()}: {problem.removeprefix('Value error, ')}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise SettingsError(
            f"The settings file {path} cannot be read: {problem.strerror}. Is {PREFIX}CONFIG right?"
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"The settings file {path} cannot be read: it is no text in UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"The settings file {path} is no valid TOML: {problem}") from None
