"""Records in Postgres: tables, migrations, the queries over them, and the embedded server. SQLAlchemy lives here."""
