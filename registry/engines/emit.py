"""Emitting a draft config for a build: loadable, spelled in its dialect, and read back before it is believed."""

from registry.domain.taps import Taps
from registry.engines.engine import Engine
from registry.engines.loadable import bases
from registry.engines.reader import Situation
from registry.engines.spelling import NoSpelling, Spelling, spell_taps


def emission_config(engine: Engine, situation: Situation, trained: Taps) -> Spelling | NoSpelling:
    """Return the config that makes the build read `trained` in every phase, or why there is none.

    The law: the reading of what is returned has exactly the trained taps, and no failure.
    """
    refusal: NoSpelling | None = None
    for base, _ in reversed(list(bases(situation))):
        spelled = spell_taps(engine, base, trained)
        if isinstance(spelled, Spelling) and not spelled.reading.failures:
            return spelled
        reason = spelled.reading.failures[0].message if isinstance(spelled, Spelling) else spelled.reason
        refusal = refusal or NoSpelling(reason=reason)
    return refusal or NoSpelling(reason="nothing to emit")
