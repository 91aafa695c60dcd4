"""A private CUPS with one queue, whose printer is a folder: a file `empty` takes its paper away."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from scripts.private_services.installed import find_program
from scripts.processes.ports import free_port, responds

_EXEC = Path("/usr/lib/cups/daemon/cups-exec")
_LOG_LINES = 150
_ASKED = ("[Client", "cupsdSetBusyState", "Get-Printer-Attributes", "Get-Jobs", "CUPS-Get-Printers")

_BACKEND = """#!/bin/sh
[ $# -eq 0 ] && exit 0
here=$(cat "$(dirname "$0")/folder")
while [ -e "$here/empty" ]; do echo 'STATE: +media-empty-error' >&2; sleep 0.05; done
echo 'STATE: -media-empty-error' >&2
cat "${6:--}" > "$here/printed/$1.part" && mv "$here/printed/$1.part" "$here/printed/$1.pdf"
"""
_RULES = """Listen 127.0.0.1:{port}
LogLevel debug
Browsing Off
<Policy default>
<Limit All>
Order allow,deny
Allow localhost
</Limit>
</Policy>
<Location />
Order allow,deny
Allow localhost
</Location>
"""


class CupsServer:
    """A scheduler with the queue `badges`, in a folder that it may enter as another user and removes at the end.

    Not one of pytest's: every test process that begins takes these away from other users.
    """

    def __init__(self, folder: Path) -> None:
        program = find_program("cupsd", "cups-daemon", "usr/sbin")
        self.folder = folder
        self.printed = folder / "printed"
        self.port = free_port()
        self._files()
        self._process = subprocess.Popen(
            [program, "-f", "-c", str(folder / "etc/cupsd.conf"), "-s", str(folder / "etc/cups-files.conf")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        give_up = time.monotonic() + 30
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < give_up, "cupsd did not start"
            time.sleep(0.05)
        self.run("lpadmin", "-p", "badges", "-v", "folder:/x", "-E")

    def _files(self) -> None:
        folder = self.folder
        for name in ("etc", "bin/backend", "bin/daemon", "printed", "spool", "tmp", "state", "cache", "log"):
            (folder / name).mkdir(parents=True)
        for path in (folder, self.printed, folder / "tmp", folder / "spool"):
            path.chmod(0o777)
        for path in (folder / "bin", folder / "bin/backend", folder / "bin/daemon"):
            path.chmod(0o755)  # whatever the umask is: commands that tests run in this process keep it strict
        shutil.copy(_EXEC, folder / "bin/daemon/cups-exec")
        backend = folder / "bin/backend/folder"
        backend.write_text(_BACKEND.replace('$(cat "$(dirname "$0")/folder")', str(folder)))
        backend.chmod(0o755)
        names = {"ServerRoot": "etc", "ServerBin": "bin", "RequestRoot": "spool", "TempDir": "tmp"}
        names |= {"StateDir": "state", "CacheDir": "cache"}
        lines = [f"{name} {folder / where}" for name, where in names.items()]
        lines += [f"{name}Log {folder / 'log' / name.lower()}" for name in ("Error", "Access", "Page")]
        (folder / "etc/cups-files.conf").write_text("\n".join([*lines, *self._users(), ""]))
        (folder / "etc/cupsd.conf").write_text(_RULES.format(port=self.port))

    def _users(self) -> tuple[str, ...]:
        """Root's scheduler prints as somebody else; anybody else's prints as they are."""
        return ("User lp", "Group lp", "SystemGroup root") if os.getuid() == 0 else ()

    @property
    def environment(self) -> dict[str, str]:
        return {"CUPS_SERVER": f"127.0.0.1:{self.port}"}

    def run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, env=os.environ | self.environment)

    def run_out_of_paper(self) -> None:
        (self.folder / "empty").touch()

    def load_paper(self) -> None:
        (self.folder / "empty").unlink(missing_ok=True)

    def go_on(self, pages: int) -> None:
        """Load paper, and wait until so many pages are printed and the scheduler has heard of the paper."""
        self.load_paper()
        give_up = time.monotonic() + 30
        while len(self.pages()) < pages or "media-empty" in self._state():
            assert time.monotonic() < give_up, "the page that was kept is not printed"
            time.sleep(0.05)

    def _state(self) -> str:
        shown = ["lpstat", "-l", "-p", "badges"]
        environment = os.environ | self.environment
        return subprocess.run(shown, check=True, capture_output=True, text=True, env=environment).stdout

    def pages(self) -> list[bytes]:
        """The documents that were printed, in their order."""
        return [path.read_bytes() for path in sorted(self.printed.glob("*.pdf"), key=lambda path: int(path.stem))]

    def log(self) -> str:
        """What the scheduler did last, without what it was asked."""
        lines = (self.folder / "log/error").read_text("utf-8", "replace").splitlines()
        return "\n".join([line for line in lines if not any(words in line for words in _ASKED)][-_LOG_LINES:])

    def close(self) -> None:
        self.load_paper()
        self._process.terminate()
        self._process.wait(10)
        shutil.rmtree(self.folder)

    def _answers(self) -> bool:
        return responds(self.port)
