"""The part of the command that needs the server extra, imported only when a service is started or migrated."""

import importlib
from types import ModuleType

from roost.failures import Failure


def server_module(name: str) -> ModuleType:
    """Import a module of the registry that needs the server extra.

    Raises:
        Failure: the extra is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module of our own that is missing is a broken installation, not a missing extra.
        if (error.name or "").partition(".")[0] in {"registry", "roost"}:
            raise
        raise Failure(
            f"the registry's service is not installed here: Python finds no module {error.name!r}",
            hint="pip install 'roost[server]'",
        ) from None
