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
    ("__init__.py", 'cupy\\.asarray|"cuda"|"should_use_cudnn"', "Chainer's names, and what replaces them"),
    ("function_hooks/__init__.py", '"(Cupy|CUDA)\\w+"|cupyx', "Chainer's names, and what replaces them"),
    ("typing/aliases.py", "CuPy", "whose arrays the aliases stand for as well"),
    ("config/switches.py", '"cudnn"|"cupy"', "values of config.backend"),
    ("weights/formats/torch_pickle.py", r'"torch\.cuda"', "PyTorch's name of a storage in its files"),
    ("weights/formats/caffe/schema.py", "CUDNN", "a value of an enumeration in Caffe's files"),
    ("singa/device.py", "create_cuda_gpu", "SINGA's names of functions"),
    ("singa/layer.py", "CudnnRNN", "SINGA's name of a layer"),
    ("singa/layers/recurrent.py", "CudnnRNN|cuDNN's recurrent", "SINGA's name of a layer, and what it stands for"),
    ("singa/layers/convolution.py", "cudnn_prefer|for cuDNN", "SINGA's name of an argument, and what it is for"),
]


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
