"""What Postgres refuses, in the registry's words. Constraint violations are told apart by constraint name."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from psycopg import errors as postgres
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from registry.domain.errors import Conflict, IntegrityMismatch, Invalid, RegistryError, Unavailable
from registry.domain.refs import NAME_IN_WORDS

MIGRATE: Final = "Run `roost db migrate`."

_BY_CONSTRAINT: Final[Mapping[str, tuple[type[RegistryError], str]]] = {
    "ck_drafters_name_is_name": (Invalid, f"A drafter's name is {NAME_IN_WORDS}."),
    "ck_verdicts_id_is_sha256_of_body": (IntegrityMismatch, "The verdict's digest is not the SHA-256 of its bytes."),
    "fill_in_only_targets": (Conflict, "A fact of a target that is known never changes."),
    "uq_checkpoint_files_checkpoint_id_name": (Invalid, "Two files of the checkpoint have one name."),
    "uq_emission_files_emission_id_name": (Invalid, "Two files of the emission have one name."),
    "uq_targets_name_revision": (Conflict, "The target is registered already."),
}
_IMMUTABLE: Final = "immutable_"
_MISSING: Final = (postgres.UndefinedTable, postgres.UndefinedColumn, postgres.UndefinedFunction)
_IS_DIGEST: Final = "_is_digest"


@contextmanager
def translated() -> Iterator[None]:
    """Raise what the registry calls a failure in place of what SQLAlchemy and psycopg call it.

    Raises:
        Unavailable: Postgres does not answer, is too busy, is not migrated, or refuses the role.
        Invalid: a value cannot be stored: it holds NUL, half a surrogate pair, or a number out of range.
        Conflict: a record of that identity exists.
        IntegrityMismatch: a digest is not the digest of what it names.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        # psycopg writes text as UTF-8 before SQLAlchemy looks at what it does.
        raise _not_storable(error) from error
    except SQLAlchemyError as error:
        known = _translate(error)
        if known is None:
            raise
        raise known from error


def connection_lost(error: BaseException | None) -> bool:
    """Tell whether `error` comes from a connection that died, so that the same work may succeed on another one."""
    cause = error.__cause__ if isinstance(error, RegistryError) else error
    return isinstance(cause, DBAPIError) and cause.connection_invalidated


def not_migrated(error: RegistryError) -> bool:
    """Tell whether `error` comes from a table or column that is not there."""
    cause = error.__cause__
    return isinstance(cause, DBAPIError) and isinstance(cause.orig, _MISSING)


def _translate(error: SQLAlchemyError) -> RegistryError | None:
    if isinstance(error, PoolTimeout):
        return Unavailable("All database connections are in use.", hint="Repeat the request in a moment.")
    origin = error.orig if isinstance(error, StatementError) else None
    if isinstance(origin, postgres.IntegrityError):
        return _violation(origin)
    if isinstance(origin, postgres.DataError):
        return _not_storable(origin)
    for kinds, make in _BY_KIND:
        if isinstance(origin, kinds):
            return make(origin)
    return None


def _violation(origin: postgres.IntegrityError) -> RegistryError | None:
    constraint = origin.diag.constraint_name or ""
    if constraint.startswith(_IMMUTABLE):
        return Conflict(f"Rows of {constraint.removeprefix(_IMMUTABLE)} never change.")
    if constraint.endswith(_IS_DIGEST):
        return Invalid("A digest is not sha256: or blake3: and 64 lower-case hex digits.")
    kind, detail = _BY_CONSTRAINT.get(constraint, (None, ""))
    return kind(detail) if kind else None


def _not_storable(origin: BaseException) -> Invalid:
    expected = "text without NUL and half surrogate pairs, numbers that are finite and in range"
    return Invalid(f"A value cannot be stored; expected {expected}.", hint=f"Postgres says: {_first_line(origin)}")


def _lacks_tables(_: BaseException) -> Unavailable:
    return Unavailable("The database lacks a table or column of this release.", hint=MIGRATE)


def _no_right(origin: BaseException) -> Unavailable:
    hint = f"{MIGRATE} It gives the rights to the role that ROOST_SERVICE_ROLE names (default roost_service)."
    return Unavailable(f"The service's role lacks a right: {_first_line(origin)}.", hint=hint)


def _too_slow(origin: BaseException) -> Unavailable:
    return Unavailable(f"The database did not finish in time: {_first_line(origin)}.", hint="Repeat the request.")


def _away(origin: BaseException) -> Unavailable:
    hint = "Start it (`roost up` starts the embedded one), or check ROOST_DATABASE_URL."
    return Unavailable(f"Postgres does not answer: {_first_line(origin)}.", hint=hint)


_BY_KIND: Final[tuple[tuple[tuple[type[Exception], ...], Callable[[BaseException], RegistryError]], ...]] = (
    (_MISSING, _lacks_tables),
    ((postgres.InsufficientPrivilege,), _no_right),
    (
        (
            postgres.QueryCanceled,
            postgres.LockNotAvailable,
            postgres.DeadlockDetected,
            postgres.SerializationFailure,
            postgres.TooManyConnections,
            postgres.DiskFull,
        ),
        _too_slow,
    ),
    ((postgres.OperationalError, postgres.InterfaceError), _away),
)
"""Read in order: the last entry catches what the ones before it did not."""


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
