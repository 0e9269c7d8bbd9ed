"""The application: routes, problem documents and request ids around the ports that were handed in."""

from typing import Final

from fastapi import FastAPI

from registry.api import openapi, problems, routes
from registry.api.parts import Parts
from registry.api.request_ids import RequestIds
from registry.api.settings import Settings
from registry.services.ports import Blobs, Records
from registry.services.profile_layers import ProfileLayers
from registry.services.profiles import Profiles

API_VERSION: Final = "1"
"""Of the contract, as in the paths; the release of the software is not part of it."""

SUMMARY: Final = "The registry for speculative-decoding drafters."


def create_app(*, records: Records, blobs: Blobs, profiles: Profiles, settings: Settings) -> FastAPI:
    """Return the application.

    Args:
        records: the system of record.
        blobs: content-addressed bytes.
        profiles: the shipped engine profiles; those that `records` holds come on top.
        settings: limits of bodies.
    """
    app = FastAPI(
        title="Roost",
        summary=SUMMARY,
        version=API_VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.parts = Parts(records=records, blobs=blobs, layers=ProfileLayers(profiles, records), settings=settings)
    for router in routes.ROUTERS:
        app.include_router(router)
    app.state.routes = routes.every_route()
    problems.install(app)
    openapi.install(app)
    app.add_middleware(RequestIds)
    return app
