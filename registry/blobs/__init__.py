"""Bytes by digest: what files hold, kept outside the database. Never what they mean."""
