"""Opens pins; what is wrong with them is said for people."""

from typing import TYPE_CHECKING

from hardware.ports import DeviceError

if TYPE_CHECKING:
    from gpiozero import DigitalInputDevice, OutputDevice

REMEDY = "Check the numbers under [pins] in the settings, and that this user is in the group gpio."
MISSING = (
    "Install it: sudo scripts/install-gate --gpio, or pip install -r requirements/gpio.txt in a checkout of Gatehouse."
)


def output(name: str, pin: int, *, active_low: bool, on: bool = False) -> "OutputDevice":
    """An output that has the wanted state from the first moment. Raises DeviceError."""
    try:
        from gpiozero import OutputDevice

        return OutputDevice(pin, active_high=not active_low, initial_value=on)
    except ImportError as why:
        raise DeviceError(name, "The library for pins is missing.", MISSING) from why
    except Exception as why:
        raise _unusable(name, pin, why) from why


def contact(name: str, pin: int) -> "DigitalInputDevice":
    """A contact between the pin and ground, active while it is closed. Raises DeviceError."""
    try:
        from gpiozero import DigitalInputDevice

        return DigitalInputDevice(pin, pull_up=True)
    except ImportError as why:
        raise DeviceError(name, "The library for pins is missing.", MISSING) from why
    except Exception as why:
        raise _unusable(name, pin, why) from why


def _unusable(name: str, pin: int, why: Exception) -> DeviceError:
    reason = " ".join(str(why).split()) or type(why).__name__
    return DeviceError(name, f"Pin {pin} cannot be used ({reason}).", REMEDY)
