"""How serial lines of scanners and printers are set up."""

import fcntl
import termios
import tty
from typing import Final

SPEEDS: Final = {
    speed: getattr(termios, f"B{speed}") for speed in (1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200)
}
"""The speeds that a line can have, and how the system calls them."""


def set_up(descriptor: int, speed: int) -> None:
    """Eight bits, no parity, no handshake, and nobody else on the line. Raises OSError or termios.error."""
    # Two programs on one line would get half a code each.
    fcntl.ioctl(descriptor, termios.TIOCEXCL)
    tty.setraw(descriptor, termios.TCSANOW)
    settings = termios.tcgetattr(descriptor)
    control = settings[2] & ~(termios.CSIZE | termios.PARENB | termios.CSTOPB | termios.CRTSCTS)
    settings[2] = control | termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = speed
    termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    termios.tcflush(descriptor, termios.TCIFLUSH)
