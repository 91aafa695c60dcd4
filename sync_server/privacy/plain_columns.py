"""The columns that can hold text and say nothing about a person; the others are in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_PERSONAL: Final[Mapping[str, str]] = {
    "active_alerts": "kind",
    "api_tokens": "token_hash scopes",
    "audit_chains": "seal signature public_key",
    "audit_lines": (
        "actor_kind actor_id action subject_kind subject_id before after approval actor_digest subject_digest seal"
    ),
    "audit_personal": "part person_kind person_id",
    "check_findings": "place row",
    "check_runs": "name",
    "checkout_settings": (
        "account_holder iban bic stripe_publishable_key stripe_sealed_key stripe_key_ending "
        "stripe_sealed_webhook_secret"
    ),
    "companion_releases": "seats",
    "customer_links": "code_hash locale",
    "customer_sessions": "token_hash",
    "customers": "locale",
    "device_assignments": "gates_allowed zones direction mode",
    "device_enrolment_codes": "code_id sealed check_number",
    "device_reports": "software rows",
    "device_request_counters": "channel seen",
    "devices": "name profile public_key revoked_why",
    "code_batches": "kind name per ticket_types",
    "checkout_sessions": "bearer_kind state",
    "event_archives": "state reason file sha256 figures problem",
    "event_gate_zones": "zones",
    "event_heads": "digest",
    "event_layouts": (
        "blocked_seats released_seats disabled_zones zone_overrides price_zones seating_overrides event_zones"
    ),
    "event_queues": "commitment sealed_seed beacon_source beacon_value root",
    "event_revisions": "digest",
    "event_zones": "name kind membership_tier",
    "events": (
        "code slug name description category status postponement_reason timezone venue_name city "
        "country address clock_uncertain settings search_text city_norm dedupe_key cover_images "
        "cover_alts"
    ),
    "gates": "code name status settings",
    "hold_outcomes": "status",
    "holds": "kind bearer_kind status source",
    "idempotency_keys": "principal key request_hash",
    "image_variants": "image_id name content_type content",
    "images": "id",
    "invitations": "role code_hash",
    "layout_import_parts": "body",
    "layout_imports": "format name state ending problem",
    "layout_seats": "seat_id section row seat_number category companion_seat_id price_category",
    "layout_zones": "name zone_type access_mode membership_tier allowed_roles metadata",
    "layouts": "name description status drawing",
    "lineage": "value",
    "listings": "city city_norm category_norm words",
    "mails": "template state problem",
    "memberships": "role",
    "money_movements": "kind debit credit currency method",
    "order_lines": "ticket_type_name seat_name seat_label state",
    "orders": "number channel bearer_kind buyer_locale currency state method",
    "organisations": "slug name currency language staff_policy",
    "outbox": "name stream subjects payload trace",
    "outbox_cursors": "reader",
    "outbox_retries": "reader stream last_error",
    "payouts": "method payment refund state problem",
    "password_links": "code_hash",
    "processed_messages": "message_id",
    "recovery_codes": "code_hash",
    "queue_entries": "state tab_hash",
    "reseating_steps": "why",
    "reseatings": "fingerprint state report reason",
    "retention_policies": "days",
    "scan_conflicts": "kind subject scans reason",
    "scan_counts": "direction reason",
    "scan_entries": "hash why kind reason",
    "scan_journals": "mark_head claimed_head claimed_signature boots alarm",
    "scan_movements": "hash code_hash",
    "seat_groups": "group_type seats metadata",
    "seat_map_changes": "seats",
    "seating_figures": "name",
    "seating_policies": "companion_price_category exempt_networks mandatory",
    "second_factors": "sealed",
    "served_revisions": "revision",
    "server_identity": "public_key sealed",
    "sessions": "token_hash csrf",
    "stripe_payments": "intent currency state",
    "supervisors": "verifier",
    "throttles": "key",
    "ticket_designs": "colour terms logo",
    "ticket_keys": "public sealed state",
    "ticket_types": "name description kind currency check_words",
    "ticket_transfers": "code_hash state",
    "tickets": "number confirmation_code seat_id section seat_row seat_number seat_key currency",
    "tier_memberships": "tier state",
    "used_challenges": "challenge",
    "users": "platform_role",
    "venues": "slug name timezone address city country settings kind website city_norm",
    "webhook_attempts": "problem answer",
    "webhook_messages": "fact stream body state last_problem",
    "webhooks": "url description facts sealed_secret sealed_old_secret paused_because",
    "zone_guests": "named",
}
"""By table, separated by spaces."""
