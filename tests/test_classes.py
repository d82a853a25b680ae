"""Classes are made to be derived from, and say so, or are final; and no chain of classes is long."""

import ast
import functools
import pathlib

PACKAGE = pathlib.Path(__file__).parents[1] / "cvzoo"
MOST_LEVELS = 5
# meant to be derived from without `Abstract` in their names; why is in docs/decisions/0001 for the first five
BASES = {
    *("Function", "FunctionNode", "Link", "Chain", "ChainList", "Sequential"),
    *("Variable", "Parameter"),  # a Parameter is a Variable; SINGA's Tensor is both
    *("GetterDataset", "StandardUpdater", "DatasetMixin", "LinkHook", "OrderSampler"),  # as in ChainerCV and Chainer
    "Program",  # of the micro-batches of a batch
    "Stateful",  # of detectron2's pickles
    *("DetectionKernels", "ImageKernels", "IndexKernels", "LossKernels", "RegionKernels"),  # parts of AbstractBackend
    *("Layer", "Pooling2d", "Optimizer", "DecayScheduler"),  # SINGA's
}


@functools.cache
def classes(folder):
    """(file, name) -> names of the bases, of all classes at the top of files."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                found[path.relative_to(folder).as_posix(), node.name] = [ast.unparse(base) for base in bases]
    return found


def levels(name, bases_of):
    """How many classes of the package stand above one another, it included."""
    return 1 + max((levels(base, bases_of) for base in bases_of.get(name, ()) if base in bases_of), default=0)


def complaints(found):
    bases_of = {name: bases for (_, name), bases in found.items()}
    errors = {name for name in bases_of if "Exception" in ancestors(name, bases_of)}
    told = []
    for (path, name), bases in found.items():
        if levels(name, bases_of) > MOST_LEVELS:
            told.append(f"{path}: {name} stands on {levels(name, bases_of) - 1} classes")
        for base in bases:
            private = base.startswith("_")
            if base in bases_of and not (private or base.startswith("Abstract") or base in BASES or base in errors):
                told.append(f"{path}: {name} derives from {base}, which is neither named Abstract nor among BASES")
    return told


def ancestors(name, bases_of):
    return {name}.union(*(ancestors(base, bases_of) for base in bases_of.get(name, ())))


def test_classes_are_abstract_or_final_and_chains_of_them_short():
    found = complaints(classes(PACKAGE))
    assert not found, "\n" + "\n".join(found)


def test_every_base_is_there():
    names = {name for _, name in classes(PACKAGE)}
    assert names >= BASES


def test_what_is_wrong_is_found():
    chain = {("a.py", f"AbstractC{k}"): [f"AbstractC{k - 1}" if k else "abc.ABC"] for k in range(7)}
    assert complaints(chain) == ["a.py: AbstractC5 stands on 5 classes", "a.py: AbstractC6 stands on 6 classes"]
    assert len(complaints({("a.py", "Final"): [], ("a.py", "Derived"): ["Final"]})) == 1
    assert not complaints({("a.py", "MyError"): ["Exception"], ("a.py", "Worse"): ["MyError"]})
    assert not complaints({("a.py", "Own"): ["Link"], ("a.py", "Link"): []})
