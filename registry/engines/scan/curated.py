"""Facts about SGLang that no scan finds, each with where it was read. What a scan can find does not belong here."""

from typing import Any, Final

GRAPH_COST: Final = "slower decoding: no CUDA graphs"

CONSTRAINTS: Final[tuple[dict[str, str], ...]] = (
    {
        "option": "--speculative-num-draft-tokens",
        "says": "with top-k 1 a number other than steps + 1 is rewritten to steps + 1, with a warning",
        "source": "arg_groups/speculative_hook.py:1072-1283 of 0.5.23; in server_args.py since 0.4.6.post5",
    },
    {
        "option": "--speculative-num-steps",
        "says": "left out, the other two must be left out too; steps, top-k and draft tokens are then chosen together",
        "source": "arg_groups/speculative_hook.py:1072-1283 of 0.5.23",
    },
    {
        "option": "--speculative-token-map",
        "says": "ignored with a warning under EAGLE3",
        "source": "speculative/eagle_worker_v2.py:325 of 0.5.23",
    },
)
"""What launching checks or changes beyond defaults; read, not followed."""

EMBEDDING: Final[dict[str, Any]] = {
    "says": "under EAGLE3 the worker gives the draft the target's embedding, unless widths differ",
    "source": "speculative/eagle_worker.py:157-169 of 0.5.9, speculative/eagle_worker_v2.py:339-363 of 0.5.23",
}
