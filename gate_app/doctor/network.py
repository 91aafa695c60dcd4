"""The way to the server: which part of it is missing."""

from __future__ import annotations

import socket
import ssl
from typing import Any, Final
from urllib.parse import urlsplit

import requests

from gate_app.doctor.finding import Code, Examined, Finding, fault, well
from gate_app.installation.identity import load

ANSWER_S: Final = 5.0
_ELSEWHERE: Final = range(300, 400)


def check_network(examined: Examined) -> Finding:
    """Whether the server answers, and if not, what is in the way."""
    identity = load(examined.home.identity)
    if identity is None:
        return well("network", "Not enrolled with a server yet.")
    server = identity.server
    try:
        # As the gate's own transport: without this machine's proxies, and never redirected.
        with requests.Session() as session:
            session.trust_env = False
            answer = session.get(
                f"{server}/healthz",
                timeout=ANSWER_S,
                verify=examined.config.ca_file or True,
                allow_redirects=False,
            )
    except requests.RequestException as why:
        return _unanswered(server, why)
    return _answered(server, answer)


def _unanswered(server: str, why: requests.RequestException) -> Finding:
    causes = list(_causes(why))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return fault(
            "network",
            Code.DNS,
            f"The name {urlsplit(server).hostname} cannot be resolved. Check the cable or Wi-Fi; if other addresses"
            " work, the name server of this network is at fault: try another network.",
        )
    if certificate := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None):
        return fault("network", Code.TLS, f"{server} cannot prove that it is the server ({_tls_words(certificate)}).")
    if isinstance(why, requests.exceptions.SSLError):
        return fault("network", Code.TLS, f"{server} cannot be reached safely ({why}).")
    advice = "Check the cable or Wi-Fi, then whether the server runs. Scanning continues offline."
    return fault("network", Code.NETWORK_DOWN, f"{server} does not answer ({type(why).__name__}). {advice}")


def _causes(why: BaseException) -> list[BaseException]:
    """The exceptions inside an exception, however its library wraps them."""
    found, waiting = list[BaseException](), [why]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.append(each)
            inside = (each.__cause__, each.__context__, getattr(each, "reason", None), *each.args)
            waiting += [more for more in inside if isinstance(more, BaseException)]
    return found


def _tls_words(why: ssl.SSLError) -> str:
    if not isinstance(why, ssl.SSLCertVerificationError):
        return "it does not speak TLS here: check the port and the scheme of the address"
    said = why.verify_message
    if "expired" in said or "not yet valid" in said:
        return f"{said}: check this machine's clock first, then the server's certificate"
    if "self-signed" in said or "unable to get local issuer" in said:
        advice = "name its file as ca_file in gate.toml, or leave this network if it is not yours"
        return f"{said}: its authority is unknown here; {advice}"
    return f"{said}: another machine answers, or the address is wrong"


def _answered(server: str, answer: requests.Response) -> Finding:
    status = answer.status_code
    if status in _ELSEWHERE or (status == requests.codes.ok and not _is_ours(answer)):
        return fault(
            "network",
            Code.CAPTIVE_PORTAL,
            f"Something else answers for {server}: this network wants a sign-in first. Open a browser on this machine"
            " and sign in, or use another network.",
        )
    if status in {401, 403, 407}:
        return fault("network", Code.REFUSED, f"{server} refuses (HTTP {status}): a proxy or firewall is in the way.")
    if not answer.ok:
        return fault(
            "network",
            Code.SERVER_TROUBLE,
            f"{server} is in trouble (HTTP {status}). Tell the organiser; scanning continues.",
        )
    return well("network", f"{server} answers (HTTP {status}).")


def _is_ours(answer: requests.Response) -> bool:
    try:
        said: Any = answer.json()
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("status") == "ok"
