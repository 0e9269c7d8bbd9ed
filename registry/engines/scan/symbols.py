"""Symbols for following a model's forward pass: hidden states that know their depth, layers, and what collects states.

Depth is the number of decoder layers already applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from registry.engines.scan.limits import Raised
from registry.engines.scan.values import LAYER, Function, Instance, Native, Opaque, Value

if TYPE_CHECKING:
    from registry.engines.scan.evaluator import Evaluator

_SAME: Final = frozenset({"clone", "contiguous", "detach", "to", "view", "reshape", "float", "bfloat16"})
"""Methods of a tensor that leave its numbers alone."""
_KEEPING: Final = ("gather", "snapshot", "complete_output", "add_to_output", "clone", "scatter")
"""Parts of names of the engine's functions that move a state between ranks, or read it out, without a new layer."""
_WHOLE: Final = ("snapshot", "complete_output")
"""Those that add what is still carried beside the state."""


class State(Opaque):
    """The hidden states between two layers."""

    def __init__(self, depth: int, *, whole: bool = True) -> None:
        super().__init__(f"state {depth}")
        self.depth = depth
        self.whole = whole
        """The residual stream; otherwise the last layer's output without the residual that is carried beside it."""

    @property
    def made(self) -> bool:
        """A state is an object, so never None."""
        return True

    def attribute(self, name: str) -> Value:
        """Return methods that keep the numbers as such; everything else is unknown."""
        if name in _SAME:
            return Native(name, lambda _args, _kwargs: self)
        return super().attribute(name)

    def binary(self, symbol: str, other: Value, *, reflected: bool) -> Value:
        """Return the state with something added to it or scaled; adding the residual makes it whole."""
        del reflected
        if other is None:
            raise Raised("TypeError", f"unsupported operand for {symbol}: a state and NoneType")
        if isinstance(other, Residual) and symbol == "Add":
            return State(self.depth, whole=True)
        return (
            State(self.depth, whole=self.whole)
            if symbol in ("Add", "Mult")
            else super().binary(symbol, other, reflected=False)
        )

    def item(self, key: Value) -> Value:
        """Return rows of the state."""
        del key
        return State(self.depth, whole=self.whole)


class Residual(Opaque):
    """What is carried beside a state."""

    def __init__(self, depth: int) -> None:
        super().__init__(f"residual {depth}")
        self.depth = depth

    @property
    def made(self) -> bool:
        """A residual is an object, so never None."""
        return True

    def binary(self, symbol: str, other: Value, *, reflected: bool) -> Value:
        """Return the state that adding it makes whole."""
        if other is None:
            raise Raised("TypeError", f"unsupported operand for {symbol}: a residual and NoneType")
        if isinstance(other, State):
            return other.binary(symbol, self, reflected=False)
        return super().binary(symbol, other, reflected=reflected)


class LayerResult(State):
    """What a layer returns: the state alone, or with the residual and more beside it."""

    def unpack(self, names: Sequence[str]) -> list[Value]:
        """Return the state first; a target that is named for the residual gets that."""
        carried = [place for place, name in enumerate(names) if place and "residual" in name]
        values: list[Value] = [Opaque(f"result {place} of a layer") for place in range(len(names))]
        values[0] = State(self.depth, whole=not carried)
        for place in carried:
            values[place] = Residual(self.depth)
        return values

    def item(self, key: Value) -> Value:
        """Return one of several results."""
        return State(self.depth) if key == 0 else Opaque(f"result {key} of a layer")


class Collector(Opaque):
    """What the engine collects captured states in."""

    def __init__(self) -> None:
        super().__init__("captured states")
        self.taken: list[Value] = []

    def truth(self) -> bool | None:
        """Return whether anything was collected."""
        return bool(self.taken)

    def attribute(self, name: str) -> Value:
        """Return the methods that take a state."""
        if name in ("append", "capture"):
            return Native(name, self._take)
        if name == "finalize":
            return Native(name, lambda _args, _kwargs: self)
        return super().attribute(name)

    def _take(self, args: list[Value], _kwargs: dict[str, Value]) -> None:
        self.taken.extend(args[:1])


@dataclass(slots=True)
class Entry:
    """Where a state was handed over to the engine's own code to be captured."""

    names: set[str] = field(default_factory=set)
    """Keyword names under which layers were given something to capture into."""


def layer_stub(number: int, entry: Entry) -> Instance:
    """Return a stub of decoder layer `number`, counted from 0.

    A layer that is given something to capture into puts its own input there: the state of depth `number`.
    """

    def called(evaluator: Evaluator, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for name, taker in [*(("", arg) for arg in args), *kwargs.items()]:
            if hand_over(evaluator, name, taker, State(number)):
                entry.names.add(name)
        return LayerResult(number + 1)

    stub = Instance(label=f"{LAYER}{number}]", rest="open", called=called)
    stub.attrs["forward"] = stub
    return stub


def hand_over(evaluator: Evaluator, name: str, taker: Value, state: State) -> bool:
    """Give a state to a collector, a list or a function that is passed along for capturing; tell whether it was one."""
    if isinstance(taker, Collector):
        taker.taken.append(state)
    elif isinstance(taker, list) and "captur" in name:
        taker.append(state)
    elif isinstance(taker, Native) and taker.name in ("append", "capture"):
        taker.run([state], {})
    elif isinstance(taker, Function) and "captur" in name:
        evaluator.call_value(taker, [state], {})
    else:
        return False
    return True


def unknown_call(evaluator: Evaluator, function: Opaque, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Return what the engine's own code, which is not followed, makes of a state; None where nothing special."""
    if function.label.startswith("AuxHiddenState") or ".AuxHiddenState" in function.label:
        return Collector()
    states = [value for value in (*args, *kwargs.values()) if isinstance(value, State)]
    if function.tail == "ModuleList" and args and isinstance(args[0], list):
        return args[0]
    if not states:
        return Collector() if function.tail == "for_batch" else None
    if function.tail == "capture_output":
        # The state goes on as it is; beside it comes what was captured.
        return (State(states[0].depth, whole=states[0].whole), State(states[0].depth))
    handed = [hand_over(evaluator, name, taker, State(states[0].depth)) for name, taker in kwargs.items()]
    if not any(handed) and any(word in function.tail for word in _KEEPING):
        whole = states[0].whole or any(word in function.tail for word in _WHOLE)
        return State(states[0].depth, whole=whole)
    return None
