"""Decides whether spans are exported: to a collector of OpenTelemetry, if the settings name one."""

from __future__ import annotations

from typing import Final

from shared.errors import SettingsError
from shared.ids import Entropy
from sync_server.plumbing.telemetry.spans import NO_SPANS, Spans

_SERVICE: Final = "gatehouse"
_MISSING: Final = (
    "Traces are to be exported (otlp_url), but OpenTelemetry is not installed. Install requirements/otel.txt, "
    "or remove the setting."
)


def choose_spans(otlp_url: str | None, entropy: Entropy) -> Spans:
    """Spans for the collector at this address; SettingsError where the library is missing."""
    if otlp_url is None:
        return NO_SPANS
    try:
        from sync_server.plumbing.telemetry.otel import OtelSpans
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "opentelemetry":
            raise
        raise SettingsError(_MISSING) from None
    return OtelSpans(otlp_url, _SERVICE, entropy)
