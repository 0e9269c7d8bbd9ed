"""Roost's registry: what drafters were trained on, what engine builds read, and whether the two agree."""
