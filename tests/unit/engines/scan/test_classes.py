from registry.engines.scan.classes import Index
from registry.engines.scan.sources import HeldSources

A = "sglang/srt/models/a.py"
B = "sglang/srt/models/b.py"
C = "sglang/srt/models/inner/__init__.py"


def index(**texts):
    names = {"a": A, "b": B, "c": C}
    return Index(HeldSources({names[name]: text for name, text in texts.items()}))


def names(entries):
    return [(entry.path, entry.name) for entry in entries]


def test_bases_are_found_through_imports_of_every_kind():
    built = index(
        a="import sglang.srt.models.b\nfrom . import b as other\nfrom .b import Base as Renamed\n"
        "class One(sglang.srt.models.b.Base): pass\nclass Two(other.Base): pass\nclass Three(Renamed): pass\n",
        b="class Base: pass\n",
    )
    for name in ("One", "Two", "Three"):
        assert names(built.lineage(built.find_class(A, name)))[1:] == [(B, "Base")]


def test_a_class_that_takes_the_name_of_its_base_does_not_lead_in_circles():
    built = index(a="from sglang.srt.models.b import Layer\nclass Layer(Layer): pass\n", b="class Layer: pass\n")
    assert names(built.lineage(built.find_class(A, "Layer"))) == [(A, "Layer"), (B, "Layer")]


def test_a_later_class_of_the_same_name_derives_from_the_earlier_one():
    built = index(a="class Layer:\n    def f(self): pass\nclass Layer(Layer):\n    def g(self): pass\n")
    found = built.find_class(A, "Layer")
    assert built.method(found, "f")[0].node.lineno == 1
    assert built.method(found, "g")[0].node.lineno == 3


def test_classes_that_derive_from_each_other_end():
    built = index(
        a="from sglang.srt.models.b import Y\nclass X(Y): pass\n",
        b="from sglang.srt.models.a import X\nclass Y(X): pass\n",
    )
    assert (A, "X") in names(built.lineage(built.find_class(A, "X")))


def test_a_diamond_is_looked_up_as_python_does():
    text = (
        "class Root:\n    def f(self): pass\n"
        "class L(Root): pass\n"
        "class R(Root):\n    def f(self): pass\n"
        "class D(L, R): pass\n"
    )
    built = index(a=text)
    found = built.find_class(A, "D")
    assert [name for _, name in names(built.lineage(found))] == ["D", "L", "R", "Root"]
    assert built.method(found, "f")[0].name == "R"


def test_names_behind_conditions_and_reexports_are_found():
    built = index(
        a="try:\n    from sglang.srt.models.inner import Base\nexcept ImportError:\n    Base = None\n"
        "if True:\n    class Inner(Base): pass\n",
        c="from sglang.srt.models.b import Base\n",
        b="class Base: pass\n",
    )
    assert names(built.lineage(built.find_class(A, "Inner"))) == [(A, "Inner"), (B, "Base")]


def test_what_the_build_does_not_have_is_external():
    built = index(a="import torch\nfrom torch import nn\nclass X(nn.Module): pass\n")
    found = built.find_class(A, "X")
    assert built.external_bases(found)
    assert built.resolve(A, "nn.Module").kind == "external"
    assert built.resolve(A, "nothing") is None


def test_a_file_that_cannot_be_read_is_a_reason_not_a_crash():
    class Broken:
        def paths(self):
            return [A]

        def text(self, path):
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    built = Index(Broken())
    assert built.find_class(A, "X") is None
    assert "invalid start byte" in built.unparsed[A].what
