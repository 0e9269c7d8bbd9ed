"""The drawn ladder: every mark at its depth, everything else elided, nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from roost.ladder import draw, name_of, rungs_of


def tap(depth: int, *, stream: str = "residual", norm: str = "none") -> dict[str, object]:
    return {"depth": depth, "stream": stream, "norm": norm}


FOUNDING = [tap(3), tap(31), tap(59)]


LADDER = """\
  61 ──◆── output of layer 60 (last)  verifier's state
  60   │
  59 ──●── output of layer 58         tap 3
       ┊   27 more
  31 ──●── output of layer 30         tap 2
       ┊   27 more
   3 ──●── output of layer 2          tap 1
       ┊   2 more
   0   │   embedding output"""


def test_the_founding_ladder() -> None:
    assert draw(layers=61, taps=FOUNDING, verifier=tap(61)) == LADDER


def test_a_tap_that_is_also_the_verifiers_state_has_both_roles() -> None:
    (last, *_) = draw(layers=4, taps=[tap(4)], verifier=tap(4, norm="final")).splitlines()
    assert last == "  4 ──◉── output of layer 3 (last)   tap 1, verifier's state (final)"


def test_an_unusual_stream_is_named_and_a_repeated_tap_is_shown_twice() -> None:
    text = draw(layers=4, taps=[tap(2, stream="branch"), tap(2)], verifier=None)
    assert "tap 1 (branch), tap 2" in text


def test_without_a_layer_count_the_ladder_ends_at_the_highest_mark() -> None:
    assert draw(layers=None, taps=[tap(7)], verifier=None).splitlines()[0].endswith("output of layer 6          tap 1")


def test_a_tap_beyond_the_last_layer_is_said_to_be() -> None:
    assert "beyond the last layer" in draw(layers=4, taps=[tap(9)], verifier=None)


def test_no_taps_are_a_ladder_all_the_same() -> None:
    assert draw(layers=2, taps=[], verifier=None).splitlines()[-1].endswith("embedding output")


def test_states_have_names() -> None:
    assert [name_of(depth, layers=2) for depth in (0, 1, 2)] == [
        "embedding output", "output of layer 0", "output of layer 1 (last)",
    ]  # fmt: skip


@given(
    layers=st.integers(1, 200),
    depths=st.lists(st.integers(0, 220), max_size=12),
    verifier=st.none() | st.integers(0, 200),
)
def test_every_depth_is_drawn_once_or_counted_among_the_skipped(
    layers: int, depths: list[int], verifier: int | None
) -> None:
    taps = [tap(depth) for depth in depths]
    rungs = rungs_of(layers=layers, taps=taps, verifier=None if verifier is None else tap(verifier))
    drawn = [rung.depth for rung in rungs if rung.depth is not None]
    top = max([layers, *depths, verifier or 0])
    assert len(drawn) + sum(rung.skipped for rung in rungs) == top + 1
    assert drawn == sorted(set(drawn), reverse=True)
    assert {*depths, 0, top} <= set(drawn)
