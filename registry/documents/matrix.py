"""`roost.matrix-request/1` and `roost.matrix/1`: one checkpoint and config against every known build."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from registry.documents import fields
from registry.documents.canonical import canonical_bytes, plain
from registry.documents.fields import Fields
from registry.documents.validation import validated
from registry.domain.findings import Remedy
from registry.domain.matrix import Matrix, MatrixRow, Takes
from registry.domain.proposal import RunnerName
from registry.domain.refs import Ref, parse_ref
from registry.domain.verdict import Decision

SCHEMA: Final = "roost.matrix/1"
REQUEST_SCHEMA: Final = "roost.matrix-request/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRequest:
    """A proposal for every known build. A part that is None is absent."""

    checkpoint: Ref
    engine: str | None = None
    """Only builds of this engine."""
    target: str | None = None
    runner: RunnerName | None = None
    draft_config: Mapping[str, object] | None = None
    launch_text: str | None = None


def parse_request(data: bytes | Mapping[str, object]) -> MatrixRequest:
    """Return the request in `data`.

    Raises:
        DocumentError: with every fault.
    """
    document = validated("matrix-request", data)
    return MatrixRequest(
        checkpoint=parse_ref(fields.text(document, "checkpoint")),
        engine=fields.maybe_text(document, "engine"),
        target=fields.maybe_text(document, "target"),
        runner=cast("RunnerName | None", fields.maybe_text(document, "runner")),
        draft_config=fields.maybe_part(document, "draft_config"),
        launch_text=fields.maybe_text(document, "launch"),
    )


def parse(data: bytes | Mapping[str, object]) -> Matrix:
    """Return the matrix in `data`.

    Raises:
        DocumentError: with every fault.
    """
    document = validated("matrix", data)
    return Matrix(
        checkpoint=fields.text(document, "checkpoint"),
        target=fields.maybe_text(document, "target"),
        trained_taps=fields.maybe_taps(document, "trained_taps"),
        proposed=bool(document["proposed"]),
        rows=tuple(map(_row, fields.parts(document, "rows"))),
        profiles=fields.text(document, "profiles"),
        rules=fields.text(document, "rules"),
    )


def render(matrix: Matrix) -> dict[str, object]:
    """Return the document of `matrix`: every key is always there."""
    return {
        "schema": SCHEMA,
        "checkpoint": matrix.checkpoint,
        "target": matrix.target,
        "trained_taps": fields.render_taps(matrix.trained_taps),
        "proposed": matrix.proposed,
        "rows": [_render_row(row) for row in matrix.rows],
        "profiles": matrix.profiles,
        "rules": matrix.rules,
    }


def matrix_bytes(matrix: Matrix) -> bytes:
    """Return the canonical bytes of `matrix`, as the CLI and the service both give them."""
    return canonical_bytes(render(matrix))


def _render_row(row: MatrixRow) -> dict[str, object]:
    return {
        "engine": row.engine,
        "first": row.first,
        "last": row.last,
        "builds": row.builds,
        "upstream": row.upstream,
        "same_as": row.same_as,
        "decision": row.decision,
        "remedy": row.remedy.value,
        "takes": row.takes,
        "ids": None if row.ids is None else list(row.ids),
        "pointer": row.pointer,
        "settings": [{"key": key, "value": plain(value)} for key, value in row.settings],
        "options": list(row.options),
        "runner": row.runner,
        "obstacle": row.obstacle,
    }


def _row(row: Fields) -> MatrixRow:
    ids = cast("Sequence[float] | None", row["ids"])
    return MatrixRow(
        engine=fields.text(row, "engine"),
        first=fields.text(row, "first"),
        last=fields.text(row, "last"),
        builds=fields.whole(row, "builds"),
        upstream=fields.maybe_text(row, "upstream"),
        same_as=fields.maybe_text(row, "same_as"),
        decision=cast("Decision", fields.text(row, "decision")),
        remedy=Remedy(fields.text(row, "remedy")),
        takes=cast("Takes", fields.text(row, "takes")),
        ids=None if ids is None else tuple(map(int, ids)),
        pointer=fields.maybe_text(row, "pointer"),
        settings=tuple((fields.text(entry, "key"), entry["value"]) for entry in fields.parts(row, "settings")),
        options=fields.texts(row, "options"),
        runner=fields.maybe_text(row, "runner"),
        obstacle=fields.text(row, "obstacle"),
    )
