"""Scanning: from the text of an engine's source to a profile. Nothing here imports, compiles or runs an engine.

The evaluator follows the engine's own small functions in their syntax trees, on probe values and under hard limits;
the modules beside it say where to look and what to make of what was followed. No file is opened here: texts come from
a `Sources`.
"""
