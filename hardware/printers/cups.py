"""Printers of the system: queues of CUPS, asked through its own programs `lp` and `lpstat`."""

import os
import re
import shutil
import subprocess
import threading
from typing import Final

from hardware.ports import MonotonicNs, PrinterError, PrinterFault, Sheet
from hardware.printers.faults import is_open, other, out_of_paper, paused, unplugged

PRINTED_S: Final = 30.0
PAUSE_S: Final = 0.3
PROGRAM_S: Final = 10.0
_JOB: Final = re.compile(r"request id is (\S+-\d+)")
_ALERTS: Final = re.compile(r"^\s+Alerts: (.*)$", re.MULTILINE)
_HARMLESS: Final = ("-warning", "-report")
_INSTALL: Final = "Install CUPS (apt install cups), and add the printer to it; lpstat -p lists what it knows."


class CupsPrinter:
    """A Printer that hands pages to CUPS, which keeps them until they are printed, also over a power cut."""

    def __init__(self, queue: str, monotonic_ns: MonotonicNs, stop: threading.Event, name: str) -> None:
        """`stop` ends the waiting for a page."""
        self.name = name
        self._queue, self._monotonic_ns, self._stop = queue, monotonic_ns, stop
        self._closed = False

    def check(self) -> None:
        if self._closed:
            raise unplugged(self.name)
        state = self._state()
        if "disabled since" in state:
            raise self._stopped()
        # A queue without jobs learns nothing of its printer: paper that was put in meanwhile would stay missing.
        if self._run("lpstat", "-W", "not-completed", "-o", self._queue).strip():
            fault = self._fault_in(state)
            if fault is not None:
                raise fault

    def print_sheet(self, sheet: Sheet) -> None:
        self.check()
        page = f"media=Custom.{sheet.width_mm:g}x{sheet.height_mm:g}mm"
        arguments = ("-d", self._queue, "-t", sheet.title, "-o", page, "-o", "print-scaling=none", "-")
        found = _JOB.search(self._run("lp", *arguments, given=sheet.pdf))
        if found is None:
            raise other(self.name, "The system took the page but gave it no number.", begun=True)
        self._await(found[1])

    def close(self) -> None:
        self._closed = True

    def _await(self, job: str) -> None:
        until = self._monotonic_ns() + int(PRINTED_S * 1e9)
        while job in self._run("lpstat", "-W", "not-completed", "-o", self._queue).split():
            state = self._state()
            fault = self._stopped() if "disabled since" in state else self._fault_in(state)
            if fault is None and self._monotonic_ns() > until:
                fault = other(self.name, f"The system still has not printed {job}.")
            if fault is not None:
                raise PrinterError(self.name, fault.kind, fault.happened, fault.remedy, kept=True)
            if self._stop.wait(PAUSE_S):
                return

    def _state(self) -> str:
        return self._run("lpstat", "-l", "-p", self._queue)

    def _fault_in(self, state: str) -> PrinterError | None:
        found = _ALERTS.search(state)
        alerts = [alert for alert in (found[1] if found else "").split() if not alert.endswith(_HARMLESS)]
        for alert in alerts:
            if alert.startswith(("media-empty", "media-needed", "input-tray-missing")):
                return out_of_paper(self.name)
            if alert.startswith(("cover-open", "door-open", "interlock-open")):
                return is_open(self.name)
            if alert.startswith(("offline", "connecting-to-device", "timed-out", "shutdown")):
                return unplugged(self.name, f"queue {self._queue}")
            if alert.startswith(("media-jam", "marker-supply-empty", "other")):
                return other(self.name, f"The printer reports: {alert}.")
        return None

    def _stopped(self) -> PrinterError:
        fault = paused(self.name)
        remedy = f"Find out why (lpstat -l -p {self._queue}), then: sudo cupsenable {self._queue}"
        return PrinterError(self.name, fault.kind, f"The system has stopped the queue {self._queue}.", f"{remedy}.")

    def _run(self, program: str, *arguments: str, given: bytes = b"") -> str:
        path = shutil.which(program)
        if path is None:
            raise PrinterError(self.name, PrinterFault.NO_QUEUE, f"The program {program} is missing.", _INSTALL)
        # Answers are taken apart: they must be in English, whatever language this machine speaks.
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            ended = subprocess.run(
                [path, *arguments], input=given, capture_output=True, timeout=PROGRAM_S, check=False, env=environment
            )
        except (OSError, subprocess.TimeoutExpired) as why:
            raise other(self.name, f"{program} does not end: CUPS does not answer.", begun=program == "lp") from why
        if ended.returncode:
            raise self._refused(ended.stderr.decode(errors="replace").strip())
        return ended.stdout.decode(errors="replace")

    def _refused(self, said: str) -> PrinterError:
        if "Invalid destination" in said or "does not exist" in said:
            happened, remedy = f"The system has no queue {self._queue}.", "lpstat -p lists what there is."
            return PrinterError(self.name, PrinterFault.NO_QUEUE, happened, remedy)
        if "not running" in said or "connect" in said:
            return PrinterError(
                self.name, PrinterFault.NO_ANSWER, "CUPS is not running.", "Start it: sudo systemctl start cups."
            )
        return other(self.name, f"The system refused the page: {said or 'without a word'}.")
