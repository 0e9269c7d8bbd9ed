"""Query parameters that several routes share."""

from typing import Annotated

from fastapi import Query

After = Annotated[str | None, Query(description="The `next` of the page before.", max_length=1000)]
"""Cursor of a listing."""

Limit = Annotated[int, Query(ge=1, le=1000, description="Items per page.")]
"""Page size of a listing."""
