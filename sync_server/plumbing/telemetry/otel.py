"""Spans in OpenTelemetry, exported by OTLP, under the ids of our own traces, which log lines and facts carry on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags

from shared.ids import Entropy
from shared.trace import Trace, heard
from sync_server.plumbing.telemetry import tracing
from sync_server.plumbing.telemetry.spans import Span, Spans

_OWN: ContextVar[Trace | None] = ContextVar("own ids of a span", default=None)


def processor(url: str) -> SpanProcessor:
    """Sends spans in the background; those that a collector does not take are dropped."""
    return BatchSpanProcessor(OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces"))


class OtelSpans(Spans):
    """Spans of one process."""

    on = True

    def __init__(self, url: str, service: str, entropy: Entropy) -> None:
        provider = TracerProvider(id_generator=_Ids(entropy), resource=Resource.create({"service.name": service}))
        provider.add_span_processor(processor(url))
        self._provider, self._tracer = provider, provider.get_tracer("gatehouse")

    def span(self, name: str, **attributes: int | str) -> Span:
        """As of `Spans`."""
        own = None if otel.get_current_span().get_span_context().is_valid else tracing.current()
        return self._begin(name, own, None, SpanKind.INTERNAL, attributes)

    def request(self, name: str, caller: str, **attributes: int | str) -> Span:
        """As of `Spans`."""
        before = heard(caller) if caller else None
        parent = otel.set_span_in_context(NonRecordingSpan(_remote(before)), Context()) if before else Context()
        return self._begin(name, tracing.current(), parent, SpanKind.SERVER, attributes)

    def close(self) -> None:
        """As of `Spans`."""
        self._provider.shutdown()

    def _begin(
        self, name: str, own: Trace | None, parent: Context | None, kind: SpanKind, attributes: Mapping[str, int | str]
    ) -> Span:
        token = _OWN.set(own)
        try:
            begun = self._tracer.start_span(name, parent, kind, _named(attributes))
        finally:
            _OWN.reset(token)
        return _OtelSpan(begun)


class _OtelSpan(Span):
    def __init__(self, begun: otel.Span) -> None:
        self._span = begun
        self._current: AbstractContextManager[Any] = otel.use_span(begun, end_on_exit=True)

    def __enter__(self) -> Span:
        self._current.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._current.__exit__(*(raised or (None, None, None)))

    def note(self, **attributes: int | str) -> None:
        self._span.set_attributes(_named(attributes))

    def link(self, header: str) -> None:
        other = heard(header)
        if other is not None:
            self._span.add_link(_remote(other))


def _named(attributes: Mapping[str, int | str]) -> dict[str, int | str]:
    return {f"gatehouse.{name}": value for name, value in attributes.items()}


def _remote(other: Trace) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED if other.sampled else TraceFlags.DEFAULT)
    return SpanContext(int(other.trace_id, 16), int(other.span_id, 16), is_remote=True, trace_flags=flags)


class _Ids(IdGenerator):
    """The ids of our own trace where a span is its step, and new ones elsewhere."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def generate_span_id(self) -> int:
        own = _OWN.get()
        return int(own.span_id, 16) if own is not None else self._new(8)

    def generate_trace_id(self) -> int:
        own = _OWN.get()
        return int(own.trace_id, 16) if own is not None else self._new(16)

    def _new(self, size: int) -> int:
        return int.from_bytes(self._entropy(size), "big") or 1
