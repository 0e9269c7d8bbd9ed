"""`/healthz` and `/readyz`: is the process alive, and can it do its work."""

import os
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from registry.api.answers import answer
from registry.api.openapi import problem_responses
from registry.api.parts import parts_of
from registry.domain.errors import Unavailable

router = APIRouter(tags=["health"])

MEND: Final = "`roost db migrate` brings a database to the revision this service needs; `roost db status` shows it."
"""What to do about a database that is not at head."""


@router.get("/healthz", response_model=None, responses=problem_responses())
async def healthz() -> Response:
    """Answer as long as the process lives."""
    return answer({"status": "ok"})


@router.get("/readyz", response_model=None, responses=problem_responses(503))
async def readyz(request: Request) -> Response:
    """Answer 200 when database and blob folder can be used, else 503 with the reason."""
    parts = parts_of(request)
    wrong = await parts.records.ready()
    if wrong is not None:
        raise Unavailable(wrong, hint=MEND)
    check_folder(parts.settings.blob_root)
    return answer({"status": "ready"})


def check_folder(root: Path) -> None:
    """Check that blobs can be written below `root`.

    Raises:
        Unavailable: the folder is missing or not writable.
    """
    if not root.is_dir() or not os.access(root, os.W_OK | os.X_OK):
        raise Unavailable(f"The blob folder {root} is missing or cannot be written.", hint="Check ROOST_DATA.")
