"""The gate's settings: one frozen value, read from gate.toml and the environment and checked as a whole."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from hardware.devices import ReaderOptions
from hardware.osdp.options import OsdpOptions
from hardware.pins.options import Fail, PinOptions
from hardware.ports import ReaderKind
from hardware.printers.opening import PrinterOptions
from hardware.signalling import SignalOptions
from shared.errors import SettingsError
from shared.words.mistakes import in_words

Pin = Annotated[int | None, Field(ge=0, le=27)]
_WIRED = ("green", "yellow", "red", "buzzer", "relay", "turned", "emergency")


class ReaderSettings(BaseModel):
    """The settings of one reader; a gate may have several."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ReaderKind
    name: str = ""
    source: str = ""
    direction: Literal["entry", "exit"] | None = None  # None: as assigned by the server
    width: int = Field(default=1280, ge=160, le=7680)
    height: int = Field(default=720, ge=120, le=4320)
    focus: int | None = Field(default=None, ge=0, le=1023)  # None: the camera's autofocus
    exposure: int | None = Field(default=None, ge=1, le=10_000)  # None: the camera chooses
    torch: str = Field(default="", pattern=r"^[\w:.@-]*$")  # an LED of this machine, lit while the camera is open
    region: tuple[int, int, int, int] | None = None  # what is looked at: left, top, width and height in percent
    layout: Literal["us", "de", "fr"] = "us"  # the keyboard that a scanner over USB is set to
    baud: Literal[1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200] = 9600

    @model_validator(mode="after")
    def _region_in_the_picture(self) -> Self:
        if self.region is not None:
            left, top, width, height = self.region
            if min(left, top) < 0 or min(width, height) < 10 or left + width > 100 or top + height > 100:
                raise ValueError(
                    "region is left, top, width and height in percent of the picture, at least 10 wide and high"
                )
        return self

    @model_validator(mode="after")
    def _only_paired(self) -> Self:
        if self.kind is ReaderKind.PHONE and self.model_fields_set != {"kind"}:
            raise ValueError(
                'what a telephone is called and reads for is said when it is paired: only kind = "phone" here'
            )
        return self

    @property
    def options(self) -> ReaderOptions:
        """What the driver needs of them: all but what the gate makes of its codes."""
        return ReaderOptions(**self.model_dump(exclude={"direction"}))


class PinSettings(BaseModel):
    """Which pin of this machine is wired to what, by GPIO numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    green: Pin = None
    yellow: Pin = None
    red: Pin = None
    buzzer: Pin = None
    relay: Pin = None
    turned: Pin = None  # a contact that closes when somebody went through
    emergency: Pin = None  # a contact that is closed while all is well
    fail: Fail | None = None  # what the barrier does without power
    open_ms: int = Field(default=1_000, ge=100, le=60_000)
    active_low: tuple[Literal["green", "yellow", "red", "buzzer", "relay"], ...] = ()

    @model_validator(mode="after")
    def _wired_as_it_works(self) -> Self:
        wired = [pin for name in _WIRED if (pin := getattr(self, name)) is not None]
        if len(wired) != len(set(wired)):
            raise ValueError("two things are wired to one pin")
        if self.relay is not None and self.fail is None:
            raise ValueError('say what the barrier does without power: fail = "safe" opens it, "secure" keeps it shut')
        return self


class OsdpSettings(BaseModel):
    """A reader or door controller on an OSDP line, which this gate commands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: str = Field(min_length=1)  # the serial line, such as /dev/serial/by-id/…
    address: int = Field(default=0, ge=0, le=126)
    baud: Literal[9600, 19200, 38400, 57600, 115200] = 9600
    key: str = Field(pattern=r"^([0-9a-fA-F]{32}|none)$")  # "none": everything on the line is said in the clear
    output: int | None = Field(default=None, ge=0, le=255)
    fail: Fail | None = None  # what the barrier does without power
    open_ms: int = Field(default=5_000, ge=100, le=60_000)

    @property
    def options(self) -> OsdpOptions:
        """What the driver needs of them."""
        key = b"" if self.key == "none" else bytes.fromhex(self.key)
        return OsdpOptions(**self.model_dump(exclude={"key"}), key=key)


class PrinterSettings(BaseModel):
    """Where the printer is and how it is spoken to; layouts are the organiser's and come with the tickets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["cups", "zpl", "escpos", "fake"]
    at: str = ""  # for cups a queue; otherwise an address such as 192.0.2.40:9100, or a path under /dev
    name: str = "printer"
    on_admission: bool = True  # False: only when somebody asks for it
    dpi: int = Field(default=203, ge=100, le=600)
    turn: Literal[0, 90, 180, 270] = 0
    baud: Literal[1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200] = 9600
    answers: bool = True  # False for a model that never says how it is
    cut: bool = True  # receipt printers: after each slip

    @property
    def options(self) -> PrinterOptions:
        """What the driver needs of them."""
        return PrinterOptions(self.kind, self.at, self.name, self.baud, self.answers, self.cut)


class Config(BaseSettings):
    """All settings; an unknown name is an error."""

    model_config = SettingsConfigDict(env_prefix="GATEHOUSE_GATE_", frozen=True, extra="forbid")

    readers: tuple[ReaderSettings, ...] = ()
    language: Literal["", "en", "de", "fr", "af"] = ""  # of the screens; "": as the browser prefers
    gate: str = ""  # the code of the gate where this device stands, if the organiser leaves the choice
    indicators: tuple[str, ...] = ()
    loudness: int = Field(default=70, ge=0, le=100)  # percent; 0 is quiet
    barrier: str = "none"
    turn_ms: int = Field(default=10_000, ge=1_000, le=60_000)  # within which a guest goes through a barrier that tells
    unturned: Literal["annul", "keep"] = "annul"  # the admission of a guest who did not
    party: Literal["choose", "all"] = "choose"  # whether somebody chooses who of a party comes in
    pins: PinSettings = PinSettings()
    osdp: OsdpSettings | None = None
    printer: PrinterSettings | None = None
    screen_host: str = "127.0.0.1"
    screen_port: int = Field(default=8100, ge=0, le=65535)
    screen_secure_port: int = Field(default=8143, ge=0, le=65535)  # opened when the first telephone is to read tickets
    screen_names: tuple[str, ...] = ()
    screen_picture: Literal["here", "network", "never"] = "here"  # who sees the camera's live picture
    allow_time_travel: bool = False
    repeat_ms: int | None = Field(default=None, ge=0, le=60_000)
    sync_wait_s: int = Field(default=25, ge=0, le=55)
    push_every_s: float = Field(default=1.0, ge=0.05, le=300)
    ca_file: str | None = None
    least_free_mb: int = Field(default=100, ge=1)

    @property
    def signals(self) -> SignalOptions:
        """What lamps, loudspeakers and the barrier need of them."""
        osdp = self.osdp.options if self.osdp else None
        return SignalOptions(PinOptions(**self.pins.model_dump()), self.loudness, osdp)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment takes precedence over the file; there are no other sources."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def read_config(path: Path) -> Config:
    """The settings of the file, if there is one, and of the environment. Raises SettingsError with all mistakes."""
    try:
        return Config(**_read_file(path))
    except ValidationError as why:
        raise SettingsError(_list_mistakes(path, why)) from why


def config_or_defaults(path: Path) -> tuple[Config, str]:
    """For status and doctor: the settings and no message, or the defaults and what is wrong with the settings."""
    try:
        return read_config(path), ""
    except SettingsError as why:
        return Config.model_construct(), why.message


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise SettingsError(f"{path} is not a TOML file: {why}.") from why
    except OSError as why:
        raise SettingsError(f"{path} cannot be read: {why.strerror}.") from why


def _list_mistakes(path: Path, why: ValidationError) -> str:
    mistakes = [f"{'.'.join(str(part) for part in error['loc'])}: {in_words(error['msg'])}" for error in why.errors()]
    return f"Invalid settings in {path} or GATEHOUSE_GATE_…: " + "; ".join(mistakes) + "."
