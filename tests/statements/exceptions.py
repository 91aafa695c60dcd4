"""The statements of the server that may leave the organisation out, each with its reason."""

from __future__ import annotations

from typing import Final

_SIGN_IN: Final = "who signs in is known by the address or the secret; the organisation follows from it"
_OPERATOR: Final = "an operator of the installation looks at all organisations"
_DEVICE: Final = "a machine is known by its number or its code; the organisation follows from it"
_CHECK: Final = "the nightly check looks whether anything crosses from one organisation to another"
_PUBLIC: Final = "a visitor asks by the id or the address of an event; the organisation follows from it"
_METRICS: Final = "figures and alerts of the whole installation, for its operators"
_DUE: Final = "one question for all that is due; each organisation is then worked on by itself"

SHARED_TABLES: Final[dict[str, str]] = {
    "listings": "the public directory is one for all organisations; a listing is written by its event's number",
    "sessions": "a session belongs to its user, who may change the organisation",
}
"""Tables whose rows are not an organisation's although they have its column."""

EXCEPTIONS: Final[dict[str, str]] = {
    "accounts.invitations.by_code": _SIGN_IN,
    "accounts.queries.organisations_of": _SIGN_IN,
    "accounts.queries.token_principal": _SIGN_IN,
    "accounts.sign_in.logins.erase_login": "a login is its owner's, whatever organisations it is a member of",
    "archives.queries.to_do": _DUE,
    "audit.erasure._erase": "which organisations store values of a person; each is then worked on by itself",
    "audit.queries.chains": _OPERATOR,
    "audit.sealer._waiting_chains": _DUE,
    "checkout.payments.disputes.count_open": _METRICS,
    "checkout.queries.count_pending": _METRICS,
    "checkout.sessions.queries.count_all_open": _METRICS,
    "customers.queries.guests_and_addresses": _OPERATOR,
    "customers.queries.guests_from_address": "a client address has one limit for all organisations",
    "devices.enrolment._locked": _DEVICE,
    "devices.queries.by_number": _DEVICE,
    "devices.queries.holder_of_key": "no two devices of any organisations may have one key",
    "devices.service._free_number": "a device's number stands on the wire and is unique in the installation",
    "events.overviews.alert_candidates.find_alert_candidates": _METRICS,
    "events.public_queries.cards": _PUBLIC,
    "events.public_queries.ids_of_slug": _PUBLIC,
    "events.public_queries.listing_fields": _PUBLIC,
    "events.public_queries.page": _PUBLIC,
    "events.queries.keys_in_tables": _CHECK,
    "events.queries.number_taken": "an event's number stands on tickets and is unique in the installation",
    "holds.expiry._overdue": _DUE,
    "holds.queries.count_active_and_overdue": _METRICS,
    "holds.caches.redis_rebuild._next_batch": "what processes share of the holds of all events is built anew",
    "images.queries.image_variant": "a picture is public to whoever knows its id",
    "migrations.schema._run_missing": "a migration changes a table for all organisations at once",
    "monitoring.alert_log.log_alert_changes": _METRICS,
    "monitoring.json_references.TableScan.batch": _CHECK,
    "monitoring.json_references._owners": _CHECK,
    "monitoring.queries.findings": _CHECK,
    "monitoring.queries.out_of_bounds": _METRICS,
    "monitoring.queries.platform_alerts": _METRICS,
    "monitoring.queries.seating_alerts": _METRICS,
    "monitoring.seating_checks._delete_others": _CHECK,
    "monitoring.service.delete_resolved": _CHECK,
    "devices.queries.heard_since": _METRICS,
    "monitoring.tenant_checks.find": _CHECK,
    "outbox.cleaning._organisations": _DUE,
    "outbox.cursors.due_for_broker": _DUE,
    "outbox.cursors.due_for_relay": _DUE,
    "outbox.cursors.forget_others": "drops what a removed program has left, everywhere",
    "outbox.cursors.progress": _METRICS,
    "outbox.queries.fact": _OPERATOR,
    "outbox.queries.list_facts": _OPERATOR,
    "outbox.queries.oldest_unrelayed": _METRICS,
    "outbox.queries.pending_count": _METRICS,
    "outbox.retries.counts": _METRICS,
    "outbox.retries.forget_others": "drops what a removed program has left, everywhere",
    "plumbing.due.due_if_any": _DUE,
    "plumbing.due.first_due": _DUE,
    "plumbing.due.next_due": _DUE,
    "plumbing.due.organisations_due": _DUE,
    "reseating.queries.abandoned": _DUE,
    "revisions.queries.arrivals": _DUE,
    "seat_maps.map_inputs.MapInputsLoader._query": _PUBLIC,
    "seat_maps.map_inputs.load_inputs": _PUBLIC,
    "seat_maps.queries.recently_changed": "which maps a process builds before anybody asks",
    "seating.companion_releases.note_releases": _DUE,
    "seating.queries.events_with_layout": _DUE,
    "tickets.event_changes.cancelled_events._go_on": _DUE,
    "tickets.keys.signing_keys.retire_everywhere": _DUE,
    "webhooks.queries.count_waiting": _METRICS,
    "webhooks.queries.paused_by_themselves": _METRICS,
}
"""By function, without `sync_server`. One that no statement uses any more fails the run of all tests."""
