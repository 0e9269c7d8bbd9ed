"""Standardization recipes: which dumped states became taps, and which became the verifier's last state.

Recipes are data, one entry each. A name that is not here makes the trained taps unknown: nothing is assumed.
Sources: speculators 0.3.0 to 0.9.0 (read), SpecForge 0.2.0 offline features (read).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What one standardization step does with the dumped states, in the order they were dumped."""

    name: str
    verifier: Literal["last", "separate"]
    """`last`: the last state of the dumped list goes to the verifier's head, all others are concatenated.
    `separate`: the dump keeps the verifier's state apart, and every listed state is concatenated."""
    summary: str


RECIPES: Final[Mapping[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="standardize_data_v0",
            verifier="separate",
            summary="v0 takes features as concatenated at the dump; the verifier's state is a field apart",
        ),
        Recipe(
            name="standardize_data_v1",
            verifier="last",
            summary="v1 concatenates all dumped states but the last, which becomes the verifier's",
        ),
        Recipe(
            name="arrow",
            verifier="last",
            summary="the Arrow reader of speculators from 0.5.0 keeps the last stacked state for the verifier",
        ),
        Recipe(
            name="specforge_offline",
            verifier="separate",
            summary="SpecForge's offline features hold the aux states and the last state in two fields",
        ),
    )
}
"""Every recipe by name."""
