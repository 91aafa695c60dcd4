"""/api/organisation/staff-policy: what the staff of an organisation may do."""

from __future__ import annotations

from collections.abc import Mapping

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.accounts import queries, rules
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.api.edits import EditedView, check_unchanged, tagged
from sync_server.plumbing.api.schemas import PatchBody
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("staff_policy", __name__, url_prefix="/api", tag="What staff may do")


class ChangeStaffPolicy(PatchBody):
    """Changes to what staff may do; actions that are left out stay as they are."""

    edit_venues: bool | None = None
    delete_venues: bool | None = None
    edit_events: bool | None = None
    change_status: bool | None = None
    call_off: bool | None = None
    hold_seats: bool | None = None
    buy_tickets: bool | None = None
    issue_tickets: bool | None = None
    change_tickets: bool | None = None
    read_orders: bool | None = None
    change_orders: bool | None = None
    refund_orders: bool | None = None
    resolve_conflicts: bool | None = None


class StaffPolicyView(EditedView):
    """Which actions staff may do."""

    edit_venues: bool
    delete_venues: bool
    edit_events: bool
    change_status: bool
    call_off: bool
    hold_seats: bool
    buy_tickets: bool
    issue_tickets: bool
    change_tickets: bool
    read_orders: bool
    change_orders: bool
    refund_orders: bool
    resolve_conflicts: bool


@bp.get("/organisation/staff-policy")
@requires(Action.READ)
@bp.output(StaffPolicyView)
def show() -> StaffPolicyView:
    """Show what the organisation's staff may do."""
    with parts().database.reading() as session:
        return tagged(_view(queries.organisation(session, organisation()).staff_policy))


def _view(decided: Mapping[str, bool]) -> StaffPolicyView:
    return StaffPolicyView.model_validate(rules.staff_policy(decided))


@bp.patch("/organisation/staff-policy")
@requires(Action.MANAGE_MEMBERS)
@bp.input(ChangeStaffPolicy)
@bp.output(StaffPolicyView)
def change(json_data: ChangeStaffPolicy) -> StaffPolicyView:
    """Change what the organisation's staff may do; it applies to their next request."""
    with parts().database.writing() as session:
        check_unchanged(lambda: _view(lock_organisation(session, organisation()).staff_policy))
        return tagged(_view(change_policy(session, organisation(), json_data.changes(), context())))


def change_policy(
    session: Session, organisation_id: str, changes: Mapping[str, bool], context: ActionContext
) -> dict[str, bool]:
    """Decide what staff may do; the policy as it is now."""
    row = lock_organisation(session, organisation_id)
    before = rules.staff_policy(row.staff_policy)
    row.staff_policy = {**row.staff_policy, **changes}
    session.flush()
    was = {name: before[name] for name in changes}
    subject = "organisation", organisation_id, organisation_id
    record(session, AuditLine(context, "staff_policy_changed", *subject, was, dict(changes)))
    return rules.staff_policy(row.staff_policy)
