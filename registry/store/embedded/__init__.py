"""The embedded Postgres: a private server for one data folder, from the programs of a wheel.

Production uses a server of its own and sets ROOST_DATABASE_URL; then nothing here runs. `start` joins or starts,
`stop` stops, `status` looks. Tables and their rights are made by migrations, not here.
"""

from registry.store.embedded.failure import EmbeddedPostgresError
from registry.store.embedded.identity import IdentityChoice
from registry.store.embedded.lifecycle import EmbeddedServer, EmbeddedStatus, start, status, stop
from registry.store.embedded.roles import DATABASE, OWNER_ROLE, SERVICE_ROLE, create_database, urls

__all__ = [
    "DATABASE",
    "OWNER_ROLE",
    "SERVICE_ROLE",
    "EmbeddedPostgresError",
    "EmbeddedServer",
    "EmbeddedStatus",
    "IdentityChoice",
    "create_database",
    "start",
    "status",
    "stop",
    "urls",
]
