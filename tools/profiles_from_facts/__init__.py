"""Write the shipped engine profiles from the recorded facts about engines: generated, not typed.

    python -m tools.profiles_from_facts FACTS_DIR [--out DIR]

FACTS_DIR holds `sglang.json` and `vllm.json`. One module per source: the SGLang rows, the vLLM rows with the class
lists read from vLLM's wheels (`vllm_targets.json`), and the few facts that have no row (`overlay.py`).
"""
