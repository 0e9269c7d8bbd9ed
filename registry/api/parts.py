"""The parts a request is answered with: ports, engine profiles and settings, put together once per service."""

from dataclasses import dataclass

from starlette.requests import Request

from registry.api.settings import Settings
from registry.services.ports import Blobs, Records
from registry.services.profile_layers import ProfileLayers
from registry.services.profiles import Profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What routes hand to use cases."""

    records: Records
    blobs: Blobs
    layers: ProfileLayers
    settings: Settings

    async def profiles(self) -> Profiles:
        """Return the engine profiles as they are now, to answer one request with.

        Raises:
            Unavailable: the database does not answer.
        """
        return await self.layers.current()


def parts_of(request: Request) -> Parts:
    """Return the parts of the service that received `request`."""
    parts = request.app.state.parts
    if not isinstance(parts, Parts):
        msg = "the application was not made by create_app"
        raise TypeError(msg)
    return parts
