"""A stub of a target model: its class, built by following its constructor, with a given number of layers."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.evaluator import Evaluator
from registry.engines.scan.limits import Budget
from registry.engines.scan.symbols import Entry, State, layer_stub, unknown_call
from registry.engines.scan.values import Instance, Opaque, Value

_MODELS = "/models/"


def in_models(path: str) -> bool:
    """Tell whether a file holds models: only those are followed."""
    return _MODELS in path


@dataclass(kw_only=True)
class ModelStub:
    """One target model with everything that following it needs."""

    evaluator: Evaluator
    model: Instance
    layers: int
    entry: Entry
    bodies: list[Instance] = field(default_factory=list)
    """Parts of the model that hold decoder layers, in the order in which they were built."""

    @property
    def body(self) -> Instance | None:
        """The part whose layers are captured: the one that a setter left something on, else the only one."""
        marked = [part for part in self.bodies if marks(part)]
        parts = marked or self.bodies
        return parts[0] if len(parts) == 1 else None


def marks(part: Instance) -> tuple[object, ...]:
    """Return everything that setters left on a part and its layers, in a form that can be compared."""
    held = [
        (name, *_numbers(value))
        for name, value in sorted(part.attrs.items(), key=lambda item: item[0])
        if _asks(name) and value
    ]
    layers = part.attrs.get("layers", [])
    held += [
        (place, name, str(value))
        for place, layer in enumerate(layers)
        if isinstance(layer, Instance)
        for name, value in sorted(layer.attrs.items(), key=lambda item: item[0])
        if _asks(name)
    ]
    return tuple(held)


def mark_names(parts: Iterable[Instance]) -> set[str]:
    """Return the names under which setters left numbers on parts, or marks on their layers."""
    names: set[str] = set()
    for part in parts:
        names |= {name for name, value in part.attrs.items() if _asks(name) and isinstance(value, list | tuple | set)}
        names |= {name for layer in part.attrs.get("layers", []) for name in getattr(layer, "attrs", {}) if _asks(name)}
    return names


def _asks(name: str) -> bool:
    return "captur" in name


def _numbers(value: Value) -> tuple[object, ...]:
    if isinstance(value, set):
        return tuple(sorted(value, key=str))
    return tuple(value) if isinstance(value, list | tuple) else (str(value),)


def config_stub(layers: int) -> Instance:
    """Return a model config that knows its number of layers; its text config is itself."""
    config = Instance(label="config", rest="open")
    config.attrs.update(
        num_hidden_layers=layers, text_config=config, hf_text_config=config, vision_config=Opaque("config")
    )
    return config


def build(index: Index, info: ClassInfo, *, layers: int, last_rank: bool = True) -> ModelStub:
    """Return a stub of a class with `layers` decoder layers, on the last pipeline rank or another."""
    evaluator = Evaluator(index, budget=Budget(), enter=in_models)
    evaluator.forgiving = True
    evaluator.told = {"is_last_rank": last_rank, "is_first_rank": True, "world_size": 1 if last_rank else 2}
    config = config_stub(layers)
    model = Instance(label=info.name, cls=info, kwargs=_arguments(index, info, config), pending=True)
    stub = ModelStub(evaluator=evaluator, model=model, layers=layers, entry=Entry())

    def constructed(part: Instance) -> None:
        part.attrs.setdefault("config", config)
        if "layers" in part.attrs:
            part.attrs["layers"] = [layer_stub(number, stub.entry) for number in range(layers)]
            part.attrs.update(start_layer=0, end_layer=layers, _start_layer=0, _end_layer=layers)
            stub.bodies.append(part)

    evaluator.on_constructed = constructed
    evaluator.on_unknown_call = lambda function, args, kwargs: unknown_call(evaluator, function, args, kwargs)
    return stub


def _arguments(index: Index, info: ClassInfo, config: Instance) -> dict[str, Value]:
    """Return arguments for the constructor: the config, and unknown values for what has no default."""
    method = index.method(info, "__init__")
    if method is None:
        return {}
    known: Mapping[str, Value] = {"config": config, "quant_config": None, "prefix": ""}
    return {name: known.get(name, Opaque(name)) for name in required(method[1].args) if name != "self"} | {
        name: value for name, value in known.items() if name in {entry.arg for entry in method[1].args.args}
    }


def required(spec: ast.arguments) -> list[str]:
    """Return the parameters that have no default."""
    names = [entry.arg for entry in (*spec.posonlyargs, *spec.args)]
    plain = names[: len(names) - len(spec.defaults)]
    return plain + [
        entry.arg for entry, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None
    ]


def pass_arguments(spec: ast.arguments) -> dict[str, Value]:
    """Return arguments for a forward pass: the embedding output where embeddings are taken, else unknown values."""
    names = [entry.arg for entry in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if entry.arg != "self"]
    needed = required(spec)
    arguments: dict[str, Value] = {name: Opaque(name) for name in names if name in needed}
    arguments.update({name: State(0) for name in names if name in _EMBEDDINGS})
    return arguments


_EMBEDDINGS = frozenset({"input_embeds", "inputs_embeds", "hidden_states", "input_embeddings"})
