"""Reads drafter files without torch: safetensors headers, digests, vocabulary maps, tokenizer identity.

What belongs here: bytes of files in, facts of `registry.domain.tensors` or faults of `registry.domain.artifact_faults`
out. What does not: judgment (rules), databases, network. `docs/format.md` says which bytes are digested and how.
"""
