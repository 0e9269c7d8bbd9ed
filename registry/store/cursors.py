"""Cursors of listings: the key of the last item on a page, opaque to clients."""

import base64
import binascii
import json
from typing import Final

from registry.domain.errors import Invalid

MOST_ITEMS: Final = 1000
"""Items on one page, whatever was asked for."""


def encode(*key: str | int) -> str:
    """Return the cursor that continues after the item with `key`."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str | None, *kinds: type[str] | type[int]) -> tuple[str | int, ...] | None:
    """Return the key in `cursor`; None for the first page.

    Raises:
        Invalid: the cursor is not one that this listing gave out.
    """
    if cursor is None:
        return None
    try:
        key = json.loads(base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise Invalid("`after` is not a cursor of this listing.", hint="Pass on `next` of the page before, as it is.")
    return tuple(key)


def page_size(limit: int) -> int:
    """Return how many items a page holds when `limit` are asked for."""
    return max(1, min(limit, MOST_ITEMS))
