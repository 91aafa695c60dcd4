"""The server's settings: read from GATEHOUSE_* or a TOML file, and validated before anything opens."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from email.utils import formataddr, parseaddr
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from shared.errors import SettingsError
from shared.words.mistakes import in_words

PREFIX = "GATEHOUSE_"
FOREIGN_PREFIXES = ("GATEHOUSE_GATE_", "GATEHOUSE_TEST_")
"""Prefixes of settings for the gate and the tests, which may be set on the same machine."""


def _scheme(*allowed: str) -> AfterValidator:
    def check(url: str) -> str:
        if url.partition(":")[0] not in allowed:
            raise ValueError(f"must start with {' or '.join(name + ':' for name in allowed)}")
        return url

    return AfterValidator(check)


def _url(url: str) -> str:
    """Check a URL; the error leaves the URL out, because it may contain a password."""
    try:
        urlsplit(url).port  # noqa: B018 -- raises unless it is a number
    except ValueError:
        raise ValueError(
            "is not a valid URL: use SCHEME://USER:PASSWORD@HOST:PORT/NAME with a numeric port, "
            "and write @, : and / in a password as %40, %3A and %2F"
        ) from None
    return url


def _host_and_port(address: str) -> str:
    try:
        parsed = urlsplit(f"//{address}")
        valid = bool(parsed.hostname and parsed.port) and parsed.netloc == address and "@" not in address
    except ValueError:
        valid = False
    if not valid:
        raise ValueError("is not an address to listen on: use HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464")
    return address


def host_and_port_or_off(address: str) -> str | None:
    """An address to listen on, or None for `off`; ValueError for anything else."""
    return None if address == "off" else _host_and_port(address)


def _sender(address: str) -> str:
    name, mailbox = parseaddr(address)
    if "@" not in mailbox or not address.isprintable():
        raise ValueError("is not an address to send from: use tickets@example.org, or Marquee <tickets@example.org>")
    return formataddr((name, mailbox))


def _networks(listed: str) -> str:
    for network in filter(None, map(str.strip, listed.split(","))):
        try:
            ip_network(network)
        except ValueError:
            raise ValueError(f"{network!r} is not a network: use 10.1.2.0/24 or fd00::7, several with commas") from None
    return listed


def _file_or_server(url: str) -> str:
    if not url.startswith("sqlite"):
        return _url(url)
    if not url.startswith("sqlite:///") or "?" in url or url.removeprefix("sqlite:///") in {"", ":memory:"}:
        raise ValueError("does not name a file: use sqlite:///FOLDER/FILE, or sqlite:////PATH for an absolute path")
    return url


class Config(BaseModel):
    """Every setting of the server; the sample file explains each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: Annotated[str, _scheme("sqlite", "postgresql"), AfterValidator(_file_or_server)] = (
        "sqlite:///var/gatehouse.db"
    )
    database_pooler: Literal["none", "transaction", "transaction_unprepared"] = "none"
    listen_database_url: Annotated[str, _scheme("postgresql"), AfterValidator(_url)] | None = None
    redis_url: Annotated[str, _scheme("redis", "rediss", "unix"), AfterValidator(_url)] | None = None
    redis_prefix: Annotated[str, Field(pattern="^[a-z0-9_.-]{1,40}$")] = "gatehouse"
    amqp_url: Annotated[str, _scheme("amqp", "amqps"), AfterValidator(_url)] | None = None
    mail_url: Annotated[str, _scheme("smtp", "smtps"), AfterValidator(_url)] | None = None
    mail_from: Annotated[str, AfterValidator(_sender)] | None = None
    mail_tls: Literal["auto", "starttls", "none"] = "auto"
    mail_ca_file: Path | None = None
    mail_password_file: Path | None = None
    webhook_seconds: Annotated[int, Field(ge=1, le=30)] = 10  # that a receiver has to answer
    webhook_http: bool = False  # whether addresses without encryption may be registered
    webhook_networks: Annotated[str, AfterValidator(_networks)] = ""  # of the server's own that may be posted to
    webhook_ca_file: Path | None = None
    stripe_url: Annotated[str, _scheme("http", "https"), AfterValidator(_url)] = "https://api.stripe.com"
    master_key_file: Path | None = None
    archives_folder: Path | None = None
    base_url: Annotated[str, _scheme("http", "https"), AfterValidator(_url)] = "http://localhost:8000"
    trusted_proxies: Annotated[int, Field(ge=0, le=5)] = 0
    session_hours: Annotated[int, Field(ge=1, le=24 * 90)] = 12
    token_days: Annotated[int, Field(ge=1, le=3650)] = 365  # the longest life of an API token
    guests_per_address: Annotated[int, Field(ge=1)] = 3_000  # new guest sessions within five minutes
    max_body_bytes: Annotated[int, Field(ge=64 * 1024, le=256 * 1024 * 1024)] = 8 * 1024 * 1024
    body_seconds: Annotated[int, Field(ge=1, le=600)] = 10
    short_notice_hours: Annotated[int, Field(ge=1, le=24 * 30)] = 24
    drain_seconds: Annotated[int, Field(ge=0, le=300)] = 0  # from not being ready until the server stops
    blocking_threads: Annotated[int, Field(ge=8, le=4096)] = 128
    database_connections: Annotated[int, Field(ge=2, le=1000)] = 40
    statement_seconds: Annotated[int, Field(ge=1, le=3600)] = 60  # that one statement of a request may take
    streams_address: Annotated[str, AfterValidator(_host_and_port)] | None = None
    streams_url: Annotated[str, _scheme("http", "https"), AfterValidator(_url)] | None = None
    streams: Annotated[int, Field(ge=10, le=1_000_000)] = 15_000  # that each process holds open
    streams_per_address: Annotated[int, Field(ge=1)] = 2_000
    metrics_address: Annotated[str | None, AfterValidator(host_and_port_or_off)] = "127.0.0.1:9464"
    otlp_url: Annotated[str, _scheme("http", "https"), AfterValidator(_url)] | None = None  # of a collector of traces
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def embedded(self) -> bool:
        """Whether the database is SQLite: one process then answers requests and runs the worker."""
        return self.database_url.startswith("sqlite")

    @property
    def listen_url(self) -> str | None:
        """PostgreSQL itself, where it is listened to, backed up and restored; None on SQLite."""
        return None if self.embedded else self.listen_database_url or self.database_url

    @model_validator(mode="after")
    def _hears_past_the_pooler(self) -> Self:
        if self.database_pooler != "none" and self.listen_database_url is None and self.redis_url is None:
            raise ValueError(
                f"listening does not pass a pooler: set {PREFIX}LISTEN_DATABASE_URL to PostgreSQL itself, "
                f"or {PREFIX}REDIS_URL"
            )
        return self

    @property
    def is_new_installation(self) -> bool:
        """Whether there is no data yet. Only then may a master key be created: an existing database needs its own."""
        return self.embedded and not (self.database_file.is_file() and self.database_file.stat().st_size)

    @property
    def secure_cookies(self) -> bool:
        """Whether cookies are restricted to HTTPS."""
        return self.base_url.startswith("https:")

    @property
    def metrics_endpoint(self) -> tuple[str, int] | None:
        """Host and port where each process serves its own metrics; None if there is no such endpoint."""
        return _endpoint(self.metrics_address)

    @property
    def streams_endpoint(self) -> tuple[str, int] | None:
        """Host and port of the streams listener; None if another process, or none, holds streams."""
        return _endpoint(self.streams_address)

    @property
    def mail_sender(self) -> str:
        """The address that mails come from."""
        return self.mail_from or f"gatehouse@{urlsplit(self.base_url).hostname}"

    @property
    def open_networks(self) -> tuple[str, ...]:
        """The networks inside that webhooks may lead to."""
        return tuple(filter(None, map(str.strip, self.webhook_networks.split(","))))

    @property
    def key_file(self) -> Path:
        """The path of the master key: as configured, or next to the database."""
        if self.master_key_file is not None:
            return self.master_key_file
        return self.database_file.with_name("master.key") if self.embedded else Path("var/master.key")

    @property
    def archives(self) -> Path | None:
        """The folder of archives: as configured, or next to an embedded database; None: nothing is put away."""
        if self.archives_folder is not None:
            return self.archives_folder
        return self.database_file.with_name("archives") if self.embedded else None

    @property
    def database_file(self) -> Path:
        """The file of an embedded database."""
        return Path(self.database_url.removeprefix("sqlite://").removeprefix("/"))


def _endpoint(address: str | None) -> tuple[str, int] | None:
    parsed = urlsplit(f"//{address or ''}")
    return (parsed.hostname or "", parsed.port or 0) if address else None


def load(environ: Mapping[str, str]) -> Config:
    """The settings of this environment; SettingsError lists every mistake."""
    named = {
        name.lower(): environ[PREFIX + name] for name in map(str.upper, Config.model_fields) if PREFIX + name in environ
    }
    file = environ.get(PREFIX + "CONFIG")
    return check((_read(Path(file)) if file else {}) | named | _unknown(environ))


def _unknown(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that look like settings but are not; `check` reports them, so that a typo is not ignored."""
    known = {PREFIX + name.upper() for name in Config.model_fields} | {PREFIX + "CONFIG"}
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and not name.startswith(FOREIGN_PREFIXES) and name not in known
    }


def from_environment() -> Config:
    """The settings of this process."""
    return load(os.environ)


def check(settings: Mapping[str, Any]) -> Config:
    """A valid Config, or SettingsError listing every mistake."""
    try:
        return Config.model_validate(dict(settings))
    except ValidationError as error:
        lines = [_problem_line(mistake["loc"] or ("database_pooler",), mistake["msg"]) for mistake in error.errors()]
        raise SettingsError("The settings are not valid:\n" + "\n".join(lines), mistakes=lines) from None


def _problem_line(location: tuple[int | str, ...], problem: str) -> str:
    name = ".".join(map(str, location))
    if name not in Config.model_fields:
        near = get_close_matches(name, Config.model_fields, n=1)
        problem = "there is no such setting" + (f"; did you mean {PREFIX}{near[0].upper()}?" if near else "")
    return f"  {PREFIX}{name.upper()}: {in_words(problem)}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"The settings file {path} cannot be read: {error.strerror}. Is {PREFIX}CONFIG right?"
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"The settings file {path} cannot be read: it is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The settings file {path} is not valid TOML: {error}") from None
