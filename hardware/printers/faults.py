"""What printers report, in words for the person beside them."""

from hardware.ports import PrinterError, PrinterFault


def out_of_paper(name: str, *, begun: bool = False) -> PrinterError:
    remedy = "Put in a new roll or new cards, and close the printer; it goes on by itself."
    return PrinterError(name, PrinterFault.NO_PAPER, "The printer has no paper.", remedy, begun=begun)


def is_open(name: str, *, begun: bool = False) -> PrinterError:
    remedy = "Close it until it clicks; it goes on by itself."
    return PrinterError(name, PrinterFault.OPEN, "The printer is open.", remedy, begun=begun)


def paused(name: str, *, begun: bool = False) -> PrinterError:
    remedy = "Press its pause or feed button; it goes on by itself."
    return PrinterError(name, PrinterFault.PAUSED, "The printer is paused.", remedy, begun=begun)


def no_answer(name: str, *, begun: bool = False) -> PrinterError:
    remedy = (
        "Switch it off and on, and check its cable. If this model never says how it is, set answers = false in the"
        " settings of the printer."
    )
    return PrinterError(name, PrinterFault.NO_ANSWER, "The printer does not answer.", remedy, begun=begun)


def unplugged(name: str, where: str = "", *, begun: bool = False) -> PrinterError:
    happened = f"The printer is not there{f' ({where})' if where else ''}."
    remedy = "Switch it on, and plug in its cables; it goes on by itself."
    return PrinterError(name, PrinterFault.UNPLUGGED, happened, remedy, begun=begun)


def no_permission(name: str, path: str, group: str) -> PrinterError:
    remedy = f"Add this user to the group: sudo usermod --append --groups {group} USER, then start the gate again."
    return PrinterError(name, PrinterFault.NO_PERMISSION, f"This user may not use {path}.", remedy)


def other(name: str, happened: str, *, begun: bool = False) -> PrinterError:
    remedy = "Look at its display; switch it off and on if nothing else helps."
    return PrinterError(name, PrinterFault.OTHER, happened, remedy, begun=begun)
