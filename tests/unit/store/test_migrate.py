"""Where a database stands beside this release, in words that name the command that mends it."""

from registry.store import migrate


def test_a_database_at_head_has_no_problem():
    status = migrate.compare(migrate.head())
    assert status.at_head
    assert status.pending == ()
    assert status.problem is None


def test_an_empty_database_has_every_revision_pending():
    status = migrate.compare(None)
    assert status.pending[0] == "0001"
    assert status.pending[-1] == migrate.head()
    assert "not migrated" in status.problem
    assert "`roost db migrate`" in status.problem


def test_a_database_of_another_release_is_not_told_to_migrate():
    status = migrate.compare("9999")
    assert not status.at_head
    assert status.pending == ()
    assert "roost db migrate" not in status.problem
