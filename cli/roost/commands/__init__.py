"""One command per file; each module's attribute `command` is what `roost.main` runs."""
