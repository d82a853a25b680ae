"""Files are whole or not there; what makes no sense is named."""

import errno
import os

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.export.onnx import save
from cvzoo.export.onnx.agreement import compare_boxes_with_onnxruntime, compare_with_onnxruntime
from cvzoo.export.onnx.message import Message
from cvzoo.export.onnx.write import export_onnx
from cvzoo.links.chain import Chain
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.serializers.model_file import save_model


@pytest.fixture
def model():
    return CIFARResNet(8, 3)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.onnx"


@pytest.fixture
def imgs():
    return np.random.default_rng(1).uniform(0, 255, (4, 3, 32, 32)).astype(np.float32)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"batch": 0}, "at least 1"),
        ({"batch": -2}, "at least 1"),
        ({"size": (0, 32)}, "at least 1"),
        ({"size": (100_000, 100_000)}, "memory"),
        ({"size": (2048, 2048), "batch": 1000}, "memory"),
        ({"batch": 1_000_000}, "batch dynamic"),
    ],
)
def test_sizes_that_make_no_sense_are_named(how, says, model, file):
    with pytest.raises(ValueRangeError, match=says):
        export_onnx(file, model, **how)
    assert not file.exists()


@pytest.mark.parametrize(
    "how",
    [{"size": (32,)}, {"size": (3, 32, 32)}, {"size": (32.5, 32)}, {"size": "32"}, {"batch": 2.5}, {"batch": "2"}],
    ids=str,
)
def test_sizes_that_are_no_whole_numbers_are_named(how, model, file):
    (name,) = how
    with pytest.raises(DtypeError, match=name):
        export_onnx(file, model, **how)
    assert not file.exists()


@pytest.mark.parametrize("function", [export_onnx, save_model])
def test_a_model_before_its_file_is_told_to_be_swapped(function, model, file):
    with pytest.raises(DtypeError) as caught:
        function(model, file)
    first = str(caught.value).splitlines()[0]
    assert first == f"{function.__name__} wants the file first, then the model: these are swapped"
    with pytest.raises(DtypeError, match="the file first, then the model\n"):
        function(file, "model")


def test_one_number_is_both_sides(model, file):
    assert export_onnx(file, model, size=32, batch=np.int64(1)).inputs == (("x", (1, 3, 32, 32)),)


def test_a_size_that_the_network_does_not_take_is_named(file):
    model = ESPNet(n_class=5)
    with pytest.raises(UnsupportedError, match=r"of size \(33, 47\): concat") as caught:
        export_onnx(file, model, size=(33, 47))
    assert "multiple" in str(caught.value)


def test_a_reason_says_what_is_not_free_and_why(file):
    exported = export_onnx(file, ESPNet(n_class=5))
    assert exported.size_step == 32
    (reason,) = exported.reasons
    assert reason.startswith("any size: concat: ")


def test_what_has_no_boxes_is_named(model, file):
    with pytest.raises(UnsupportedError, match="boxes of a CIFARResNet"):
        export_onnx(file, model, boxes=True)


def test_what_is_no_model_of_the_zoo_is_named(file):
    with pytest.raises(UnsupportedError, match="a Chain cannot be exported"):
        export_onnx(file, Chain())


def test_a_missing_folder_is_named(model, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        export_onnx(tmp_path / "nowhere" / "model.onnx", model)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_named(model, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        export_onnx(tmp_path / "model.onnx", model)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(model, file, monkeypatch):
    file.write_bytes(b"old")
    write = Message.write_to

    def write_half(self, out):
        write(Message().text(1, "half"), out)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Message, "write_to", write_half)
    with pytest.raises(OSError, match="No space left"):
        export_onnx(file, model)
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_a_quantized_model_is_refused(precision, model, imgs, file):
    try:
        quantized = model.quantize(imgs, precision=precision)
    except UnsupportedError:
        pytest.skip(f"this processor has no {precision}")
    with pytest.raises(UnsupportedError, match="ONNX: a quantized CIFARResNet"):
        export_onnx(file, quantized)
    assert not file.exists()


def test_a_compiled_model_makes_the_same_file(model, imgs, file):
    export_onnx(file, model)
    plain = file.read_bytes()
    model.compile(imgs)
    ours = model.predict(imgs)[0]
    export_onnx(file, model)
    assert file.read_bytes() == plain
    np.testing.assert_array_equal(model.predict(imgs)[0], ours)
    assert model.graphs()


@pytest.fixture
def everything_is_large(monkeypatch):
    """A file holds next to nothing, so that numbers go into a second one."""
    monkeypatch.setattr(save, "_LARGEST", 10_000)


@pytest.mark.usefixtures("everything_is_large")
def test_large_networks_have_their_numbers_beside_the_file(model, imgs, file, open_session):
    exported = export_onnx(file, model)
    assert exported.data_file == "model.onnx.data"
    assert sorted(each.name for each in file.parent.iterdir()) == ["model.onnx", "model.onnx.data"]
    assert file.stat().st_size < 50_000 < (file.parent / exported.data_file).stat().st_size
    x = np.stack([model.prepare(img) for img in imgs])
    (found,) = open_session(file).run(None, {"x": x})
    with using_config("train", False), no_backprop_mode():
        np.testing.assert_allclose(found, model.scores(x).array, atol=1e-5)


@pytest.mark.usefixtures("everything_is_large")
def test_of_two_files_neither_is_there_when_the_disk_is_full(model, file, monkeypatch):
    def full(self, out):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Message, "write_to", full)
    with pytest.raises(OSError, match="No space left"):
        export_onnx(file, model)
    assert not list(file.parent.iterdir())


def test_files_of_something_else_are_not_compared(model, file, onnxruntime):
    export_onnx(file, CIFARResNet(8, 4))
    x = np.zeros((1, 3, 32, 32), np.float32)
    with pytest.raises(ShapeError, match="another model"):
        compare_with_onnxruntime(file, model, x)
    with pytest.raises(UnsupportedError, match="has no boxes"):
        compare_boxes_with_onnxruntime(file, model, x[0])
