"""The least that a gate with a camera does at its start: Python, the libraries that read codes, and a page."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import cv2
import zxingcpp

PAGE = f"OpenCV {cv2.__version__}, zxing-cpp for {zxingcpp.BarcodeFormat.QRCode.name}".encode()


class Page(BaseHTTPRequestHandler):
    """One page."""

    def do_GET(self) -> None:
        """Send it."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_what: object) -> None:
        """Nothing is logged."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Page)
    print(f"The page: http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    server.serve_forever()
