"""Reads the values of `d2t` and `t2d`, the only tensors whose numbers are interpreted.

A drafter with a reduced vocabulary says in `d2t` which target token each of its tokens is, and in `t2d` which target
tokens it has. Whether the numbers fit is judged elsewhere; here they are only read and summed up.
"""

import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise

from registry.artifacts.faults import faulty
from registry.domain.artifact_faults import FaultKind
from registry.domain.tensors import Tensor, VocabMap

MOST_ROWS = 1 << 21
"""Longest map that is read; the largest vocabulary known has about 300,000 tokens."""

_INTEGERS = {"I64": "q", "I32": "i"}
_BOOLEANS = {"BOOL", "U8"}
_MAP, _MASK = "d2t", "t2d"


def is_vocab_tensor(name: str) -> bool:
    """Tell whether `name` is that of a vocabulary map: it ends with `d2t` or `t2d`."""
    return name.endswith((_MAP, _MASK))


def check(tensor: Tensor) -> None:
    """Refuse a vocabulary tensor whose values cannot be read.

    Raises:
        FaultError: with `VOCAB_MAP_MALFORMED`: wrong dtype, not one dimension, empty or too long.
    """
    dtypes = _INTEGERS.keys() if _is_map(tensor.name) else _BOOLEANS
    if tensor.dtype in dtypes and len(tensor.shape) == 1 and 0 < tensor.shape[0] <= MOST_ROWS:
        return
    raise faulty(
        FaultKind.VOCAB_MAP_MALFORMED,
        tensor.file,
        where=tensor.name,
        observed=f"{tensor.dtype} {list(tensor.shape)}",
        expected=f"{' or '.join(sorted(dtypes))}, one dimension of 1 to {MOST_ROWS}",
    )


def summarize(values: Sequence[tuple[Tensor, bytes]]) -> VocabMap | None:
    """Return what the vocabulary tensors of a checkpoint say; None where there is no `d2t`.

    Args:
        values: each vocabulary tensor, accepted by `check`, with its bytes.

    Raises:
        FaultError: with `VOCAB_MAP_MALFORMED`: two tensors of one kind, or a boolean that is neither 0 nor 1.
    """
    maps = [pair for pair in values if _is_map(pair[0].name)]
    masks = [pair for pair in values if not _is_map(pair[0].name)]
    _at_most_one(maps)
    _at_most_one(masks)
    if not maps:
        return None
    offsets = decode_integers(maps[0][0].dtype, maps[0][1])
    return _vocab_map(offsets, mask=_mask(*masks[0]) if masks else None)


def decode_integers(dtype: str, data: bytes) -> Sequence[int]:
    """Return the little-endian numbers of an I64 or I32 tensor.

    Raises:
        KeyError: another dtype.
    """
    numbers = array(_INTEGERS[dtype], data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _is_map(name: str) -> bool:
    return name.endswith(_MAP)


def _at_most_one(pairs: Sequence[tuple[Tensor, bytes]]) -> None:
    if len(pairs) > 1:
        second = pairs[1][0]
        observed = f"also '{pairs[0][0].name}'"
        raise faulty(
            FaultKind.VOCAB_MAP_MALFORMED, second.file, where=second.name, observed=observed, expected="one such tensor"
        )


def _mask(tensor: Tensor, data: bytes) -> bytes:
    if max(data) > 1:
        observed = f"the value {max(data)}"
        raise faulty(
            FaultKind.VOCAB_MAP_MALFORMED, tensor.file, where=tensor.name, observed=observed, expected="only 0 and 1"
        )
    return data


def _vocab_map(offsets: Sequence[int], *, mask: bytes | None) -> VocabMap:
    targets = [draft + offset for draft, offset in enumerate(offsets)]
    return VocabMap(
        rows=len(offsets),
        offset_min=min(targets),
        offset_max=max(targets),
        offset_increasing=_increasing(targets),
        absolute_min=min(offsets),
        absolute_max=max(offsets),
        absolute_increasing=_increasing(offsets),
        all_zero=not any(offsets),
        t2d_rows=None if mask is None else len(mask),
        t2d_true=None if mask is None else mask.count(1),
        t2d_agrees=None if mask is None else _agrees(targets, mask),
    )


def _increasing(values: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise(values))


def _agrees(targets: Sequence[int], mask: bytes) -> bool:
    distinct = set(targets)
    inside = min(distinct) >= 0 and max(distinct) < len(mask)
    return inside and len(distinct) == mask.count(1) and all(mask[target] for target in distinct)
