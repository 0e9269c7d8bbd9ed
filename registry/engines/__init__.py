"""Engines: one file per engine. Each reads a proposal as that engine would, and spells trained taps in its dialect.

Pure: text and profiles in, readings and files out. What differs between builds is data in a profile.
"""
