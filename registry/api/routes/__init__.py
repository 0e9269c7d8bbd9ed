"""Routes, one module per resource: each holds a `router` and nothing that decides."""

from typing import Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from registry.api.routes import (
    blobs,
    checkpoints,
    drafters,
    emissions,
    engine_diff,
    engines,
    health,
    matrix,
    provenance,
    rules,
    targets,
    verdicts,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    health.router,
    blobs.router,
    targets.router,
    drafters.router,
    checkpoints.router,
    provenance.router,
    verdicts.router,
    emissions.router,
    engines.router,
    engine_diff.router,
    matrix.router,
    rules.router,
)
"""Every router of the service."""


def every_route() -> tuple[APIRoute, ...]:
    """Return every route of every router, in the order in which they are tried."""
    return tuple(route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))
