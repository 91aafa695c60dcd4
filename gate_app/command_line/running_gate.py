"""Asks the gate that is running in a home to do something: nobody stops a gate to open its doors."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from gate_app.installation.home import Home
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest, NotFound, StorageError, Unavailable

ANSWER_S = 30.0
_ERRORS = {kind.status: kind for kind in (InvalidRequest, Forbidden, NotFound, Conflict, StorageError)}


@dataclass(frozen=True, slots=True)
class RunningGate:
    """The running gate of a home."""

    port: int
    token: str

    def ask(self, action: str, **fields: Any) -> dict[str, Any]:
        """What the gate answers. Raises the error that it answers with, or Unavailable."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request("POST", f"/desk/{action}", json.dumps(fields), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as why:
            raise Unavailable(f"The running gate does not answer ({why}). Look at its screen, and try again.") from why
        finally:
            connection.close()
        return _checked(response.status, answer)


def running_gate(home: Home) -> RunningGate | None:
    """The gate that runs in this home; None if none does."""
    if not home.holder():
        return None
    try:
        told = json.loads(home.control.read_text("utf-8"))
        return RunningGate(int(told["port"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def require_running(home: Home) -> RunningGate:
    """The gate that runs in this home. Raises NotFound or Conflict."""
    home.require_gate()
    found = running_gate(home)
    if found is None:
        raise Conflict("No gate is running here. Start it with: gatehouse-gate run.", code="not_running")
    return found


def _checked(status: int, answer: dict[str, Any]) -> dict[str, Any]:
    if status == 200:
        return answer
    error = answer.get("error", {})
    kind = _ERRORS.get(status, GatehouseError)
    raise kind(str(error.get("message", "")) or None, code=str(error.get("code", "")) or None)
