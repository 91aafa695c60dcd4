"""Building blocks of the HTTP API: schemas, pagination, idempotency, open streams, /docs and /healthz."""
