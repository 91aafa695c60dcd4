"""/api/events/…/seating/metrics: how well an event's house is seated and sold."""

from __future__ import annotations

from apiflask import APIBlueprint
from pydantic import BaseModel

from sync_server.holds.outcomes import outcomes
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import organisation, requires
from sync_server.seating.figures import Figure, of_holds, of_house
from sync_server.seating.houses import houses

bp = APIBlueprint("house_figures", __name__, url_prefix="/events/<event_id>/seating", tag="Figures of houses")


class FigureView(BaseModel):
    """A figure in percent, where it should lie, outside what somebody must look, and what to look at then."""

    name: str
    percent: float | None
    state: str
    target: tuple[float, float]
    alert: tuple[float, float]
    words: str

    @classmethod
    def of(cls, figure: Figure) -> FigureView:
        """As organisers see it."""
        percent = None if figure.percent is None else round(figure.percent, 2)
        bounds = figure.bounds
        return cls(
            name=figure.name,
            percent=percent,
            state=figure.state,
            target=bounds.target,
            alert=bounds.alert,
            words=bounds.words,
        )


class FiguresView(BaseModel):
    """All figures of a house."""

    items: list[FigureView]


@bp.get("/metrics")
@requires(Action.READ)
@bp.output(FiguresView)
def metrics(event_id: str) -> FiguresView:
    """Show the figures of an event's house; 404 for an event without a layout."""
    with parts().database.reading() as session:
        with houses().house(session, organisation(), event_id, parts().clock()) as here:
            found = of_house(here)
        found += of_holds(outcomes(session, event_id))
    return FiguresView(items=[FigureView.of(figure) for figure in found])
