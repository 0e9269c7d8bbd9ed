"""Running a setter and then the forward pass of a stub: which depths are left captured, and how."""

from dataclasses import dataclass
from typing import Any, Final

from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.limits import Raised, Unfollowed
from registry.engines.scan.model_stub import ModelStub, build, marks, pass_arguments
from registry.engines.scan.symbols import Collector, State
from registry.engines.scan.values import Function, Instance, Value

SETTER: Final = "set_eagle3_layers_to_capture"

Ids = tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a setter did with ids."""

    raised: str = ""
    """The exception it raised, in words; empty where it did not."""
    unfollowed: Unfollowed | None = None
    listed: tuple[int, ...] | None = None
    """The list of layer numbers that it left on the model's body, in its order; None where it left none."""
    marked: tuple[object, ...] = ()
    """Everything that it left, comparable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What a forward pass captured."""

    depths: tuple[int, ...] = ()
    """In the order of capture."""
    whole: tuple[bool, ...] = ()
    """Of each, whether it is the residual stream."""
    raised: str = ""
    unfollowed: Unfollowed | None = None
    entry: tuple[str, ...] = ()
    """Keyword names under which layers got something to capture into."""
    assumed: tuple[tuple[str, int], ...] = ()
    body: ClassInfo | None = None


class Captures:
    """Setters and forward passes of one build; passes with the same marks on the same body are run once."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.judged: dict[tuple[object, ...], Any] = {}
        """What was found of classes already, by what makes two classes the same."""
        self._passes: dict[tuple[object, ...], Pass] = {}

    def set_ids(
        self, info: ClassInfo, *calls: Ids, layers: int, last_rank: bool = True, method: str = SETTER
    ) -> tuple[ModelStub, Setting]:
        """Call a class's setter once per entry of `calls`, None being a call without ids."""
        stub = build(self.index, info, layers=layers, last_rank=last_rank)
        try:
            for ids in calls:
                setter = stub.evaluator.attribute(stub.model, method)
                stub.evaluator.run(setter, [] if ids is None else [list(ids)])
        except Raised as raised:
            return stub, _setting(stub, raised=str(raised))
        except Unfollowed as reason:
            return stub, _setting(stub, unfollowed=reason)
        return stub, _setting(stub)

    def run_pass(self, stub: ModelStub) -> Pass:
        """Follow the forward pass of the model's body as the setter left it."""
        body = stub.body
        if body is None or body.cls is None:
            count = len(stub.bodies)
            reason = Unfollowed(stub.model.label, 0, f"the part that holds the layers is not plain: {count} candidates")
            return Pass(unfollowed=reason)
        key = (body.cls, stub.layers, stub.evaluator.told["is_last_rank"], settled(body), marks(body))
        if key not in self._passes:
            self._passes[key] = _follow(stub, body)
        return self._passes[key]


def settled(body: Instance) -> tuple[tuple[str, Value], ...]:
    """Return the plain switches of a part: two models may build the same part differently."""
    return tuple(
        (name, value)
        for name, value in sorted(body.attrs.items(), key=lambda item: item[0])
        if value is None or isinstance(value, bool | str)
    )


def _setting(stub: ModelStub, *, raised: str = "", unfollowed: Unfollowed | None = None) -> Setting:
    body = stub.body
    lists = [
        tuple(value)
        for name, value in (body.attrs.items() if body else ())
        if "captur" in name and isinstance(value, list | tuple | set) and all(isinstance(item, int) for item in value)
    ]
    return Setting(
        raised=raised,
        unfollowed=unfollowed,
        listed=lists[0] if len(lists) == 1 else None,
        marked=marks(body) if body else (),
    )


def _follow(stub: ModelStub, body: Instance) -> Pass:
    evaluator = stub.evaluator
    try:
        forward = evaluator.attribute(body, "forward")
        if not isinstance(forward, Function):
            return Pass(unfollowed=Unfollowed(body.label, 0, "the body has no forward pass"))
        with evaluator.leniently():
            result = evaluator.run(forward, [], pass_arguments(forward.node.args))
    except Raised as raised:
        return Pass(raised=str(raised), entry=_entry(stub), body=body.cls)
    except Unfollowed as reason:
        return Pass(unfollowed=reason, body=body.cls)
    return _taken(stub, body, result)


def _entry(stub: ModelStub) -> tuple[str, ...]:
    return tuple(sorted(stub.entry.names))


def _taken(stub: ModelStub, body: Instance, result: Value) -> Pass:
    parts = result if isinstance(result, tuple) else ()
    collections = [part.taken if isinstance(part, Collector) else part for part in parts]
    taken = next((part for part in collections if isinstance(part, list)), [])
    if not all(isinstance(state, State) for state in taken):
        strange = next(state for state in taken if not isinstance(state, State))
        return Pass(
            unfollowed=Unfollowed(body.label, 0, f"what is captured is not a plain state: {strange!r}"), body=body.cls
        )
    return Pass(
        depths=tuple(state.depth for state in taken),
        whole=tuple(state.whole for state in taken),
        entry=_entry(stub),
        assumed=tuple(dict.fromkeys(stub.evaluator.assumed)),
        body=body.cls,
    )
