"""An app server behind a private nginx with the shipped file, and its visitors' browsers."""

from __future__ import annotations

import http.client
import ssl
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import requests
from werkzeug.serving import make_server

from scripts.private_services.nginx import NAME, Behind, NginxServer
from scripts.processes.ports import LOOPBACK
from tests.app_server import AppServer
from tests.services.optional_services import start_or_fail


class PublicSite:
    """`app_server` is asked by nginx; `asked` counts the requests that reach it, and `headers` has the latest ones."""

    def __init__(self, database_url: str, folder: Path) -> None:
        settings: dict[str, Any] = {"base_url": f"https://{NAME}", "trusted_proxies": 1}
        self.app_server = AppServer(database_url, folder, streams_address=f"{LOOPBACK}:1", **settings)
        self.asked = Counter[str]()
        self.headers: dict[str, str] = {}
        self._server = make_server(LOOPBACK, 0, self._counted, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.nginx = start_or_fail("nginx", self._started_nginx)

    def browser(self) -> requests.Session:
        """A browser without cookies."""
        session = requests.Session()
        session.trust_env = False
        session.verify = str(self.nginx.certificate)
        session.headers["Host"] = NAME
        return session

    def url(self, path: str) -> str:
        return f"https://{LOOPBACK}:{self.nginx.port}{path}"

    def connect(self) -> http.client.HTTPConnection:
        """A connection by HTTPS, for clients that write their own headers."""
        trusted = ssl.create_default_context(cafile=str(self.nginx.certificate))
        return http.client.HTTPSConnection(LOOPBACK, self.nginx.port, timeout=60, context=trusted)

    def close(self) -> None:
        self.nginx.remove()
        self._server.shutdown()
        self._thread.join()
        self.app_server.close()

    def _started_nginx(self) -> NginxServer:
        nginx = NginxServer(Behind(self._server.server_port, self.app_server.listener.port))
        nginx.start()
        return nginx

    def _counted(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.asked[environ["PATH_INFO"]] += 1
        self.headers = {name: value for name, value in environ.items() if name.startswith("HTTP_")}
        return self.app_server.app(environ, start_response)
