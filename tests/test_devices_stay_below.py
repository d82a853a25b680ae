"""Above `backends` no file names a GPU's libraries, and few places ask where an array lies."""

import pathlib
import re

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "cvzoo"
LIBRARIES = re.compile("(?<![a-z])(cuda|cupy|cudnn)", re.IGNORECASE)
ASKS = re.compile(r"\b(is_device_array|device_number)\b")
MOST_ASKS = 9

# words that users see or files contain: file, what its lines may say, why
ALLOWED = [
    ("lazy_imports/absent_names.py", r"(?i)[\w.]*(cuda|cupy|cudnn)\w*", "Chainer's names, and what replaces them"),
    ("typing/aliases.py", "CuPy", "whose arrays the aliases stand for as well"),
    ("config/switches.py", '"cudnn"|"cupy"', "values of config.backend"),
    ("weights/formats/torch_pickle.py", r'"torch\.cuda"', "PyTorch's name of a storage in its files"),
    ("weights/formats/caffe/schema.py", "CUDNN", "a value of an enumeration in Caffe's files"),
    ("distributed/create_communicator.py", "non_cuda_aware", "ChainerMN's name of a communicator"),
    ("singa/device.py", "create_cuda_gpu", "SINGA's names of functions"),
    ("studio/worker/attempt.py", '"CUDA_"', "variables of the environment that a training gets"),
    ("singa/layer.py", "CudnnRNN", "SINGA's name of a layer"),
    ("singa/layers/recurrent.py", "CudnnRNN|cuDNN's recurrent", "SINGA's name of a layer, and what it stands for"),
    ("singa/layers/convolution.py", "cudnn_prefer|for cuDNN", "SINGA's name of an argument, and what it is for"),
]


# in rooms to which arrays of a GPU come: a file that tells a NumPy array from something else, and from what
HOST_ARRAYS = {
    "autodiff/gradient_check.py": "from what cannot be changed element by element",
    "autodiff/parameter.py": "an initial value from a number or a function",
    "graph/attributes.py": "from other attributes whose contents are compared; a GPU's are compared by identity",
    "graph/memory.py": "an owner of memory from a buffer",
    "graph/passes/merge_reorders.py": "a constant from the number of a block",
    "graph/repeats.py": "from other settings; a GPU's arrays were copied before",
    "graph/side_effects.py": "from a scalar, and from arguments whose changes are not detected, a GPU's among them",
    "links/connection/fused_convolution.py": "from sources that are compared by identity, a GPU's among them",
    "links/model/detections.py": "from other sources of images",
    "links/model/image_batches.py": "from other sources of images",
    "links/quantization/flow.py": "from None: calibration is on the CPU",
    "links/quantization/stored.py": "from other contents of a file",
    "optimizers/on_device/trace.py": "from a scalar",
}
IS_HOST_ARRAY = re.compile(r"isinstance\([^#\n]*np\.ndarray")
ROOMS = ("autodiff", "functions", "graph", "initializers", "links", "optimizers")


def files_above():
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "backends"]


def names_of_libraries(text, allowed=""):
    """The lines that name a GPU's library, but for what is allowed."""
    rest = re.sub(allowed, "", text) if allowed else text
    return [f"{number}: {line.strip()}" for number, line in enumerate(rest.split("\n"), 1) if LIBRARIES.search(line)]


def test_no_file_above_the_backends_names_a_library_of_gpus():
    allowed = {file: words for file, words, _ in ALLOWED}
    found = [
        f"{name}:{line}"
        for path in files_above()
        for name in [path.relative_to(PACKAGE).as_posix()]
        for line in names_of_libraries(path.read_text(), allowed.get(name, ""))
    ]
    assert not found, "a function of the backends' interface should do that:\n" + "\n".join(found)


def test_few_places_ask_where_an_array_lies():
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in files_above()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ASKS.search(line) and not line.lstrip().startswith(("import", "from"))
    ]
    assert len(found) <= MOST_ASKS, "a function of the backends' interface should ask:\n" + "\n".join(found)


def test_no_other_file_tells_arrays_of_the_host_from_those_of_a_gpu():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in files_above()
        if path.relative_to(PACKAGE).parts[0] in ROOMS and IS_HOST_ARRAY.search(path.read_text())
    }
    assert found - HOST_ARRAYS.keys() == set(), "is_array, or a function of the backends' interface"
    assert HOST_ARRAYS.keys() - found == set()


@pytest.mark.parametrize(("file", "words", "why"), ALLOWED)
def test_what_is_allowed_is_there(file, words, why):
    assert why
    assert re.search(words, (PACKAGE / file).read_text())


@pytest.mark.parametrize(
    ("text", "allowed", "count"),
    [
        ("from cvzoo.backends.cuda.boxes import frame", "", 1),
        ("# CuPy rounds otherwise\nx = 1", "", 1),
        ('BACKENDS = ("cudnn", "cupy")', '"cudnn"|"cupy"', 0),
        ('BACKENDS = ("cudnn", "cupy")', '"cudnn"', 1),
        ("y = backend_of(x).softmax(x, axis=1)", "", 0),
    ],
)
def test_names_are_found(text, allowed, count):
    assert len(names_of_libraries(text, allowed)) == count
