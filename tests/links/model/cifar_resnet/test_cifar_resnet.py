"""CIFARResNet: its shape, its shortcuts, and the published weights."""

import hashlib

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.links.model.cifar_resnet.cifar_resnet import BasicBlock, CIFARResNet
from cvzoo.links.model.cifar_resnet.weights import CIFAR10_LABELS, WEIGHTS
from cvzoo.serializers import save_npz


@pytest.fixture
def published(shared):
    return shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th"


# the numbers of parameters in the paper's table 6: 0.27, 0.46, 0.66, 0.85 million
@pytest.mark.parametrize(("n_layer", "n_params"), [(20, 269_722), (32, 464_154), (44, 658_586), (56, 853_018)])
def test_it_has_as_many_parameters_as_the_paper_says(n_layer, n_params):
    assert CIFARResNet(n_layer).count_params() == n_params


def test_it_gives_a_score_for_each_class():
    model = CIFARResNet(8, n_class=7)
    assert model.label_names is None
    assert model(np.zeros((2, 3, 32, 32), np.float32)).shape == (2, 7)
    assert CIFARResNet(8).label_names == CIFAR10_LABELS


def test_the_shortcut_takes_every_second_pixel_and_adds_empty_channels():
    block = BasicBlock(2, 6, 2)
    block.conv2.bn.gamma.array[...] = 0  # leaves the shortcut alone
    x = np.abs(np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype(np.float32))
    y = block(x).array
    np.testing.assert_array_equal(y[:, 2:4], x[:, :, ::2, ::2])
    assert not y[:, :2].any()
    assert not y[:, 4:].any()


def test_gradients_reach_every_parameter():
    model = CIFARResNet(8)
    x = Variable(np.random.default_rng(0).normal(size=(4, 3, 32, 32)).astype(np.float32))
    F.softmax_cross_entropy(model(x), np.array([0, 1, 2, 3])).backward()
    assert all(parameter.grad is not None for parameter in model.params())
    assert x.grad is not None


@pytest.mark.parametrize("n_layer", [19, 21, 2, 0, -4])
def test_another_depth_is_refused(n_layer):
    with pytest.raises(ValueRangeError, match="6 n \\+ 2"):
        CIFARResNet(n_layer)


def test_unknown_weights_are_refused_with_the_names_there_are():
    with pytest.raises(ValueRangeError, match="cifar10"):
        CIFARResNet(20, pretrained_model="cifar11")
    with pytest.raises(ValueRangeError, match="path"):
        CIFARResNet(8, pretrained_model="cifar10")


def test_a_file_of_its_own_comes_back(tmp_path):
    model = CIFARResNet(8)
    model.stage2[0].conv1.bn.avg_mean[...] = 3
    save_npz(tmp_path / "model.npz", model)
    twin = CIFARResNet(8, pretrained_model=tmp_path / "model.npz")
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(twin.state_arrays()[name], array)


def test_records_point_at_one_commit_and_name_the_file_by_its_hash():
    for records in WEIGHTS.values():
        record = records["cifar10"]
        assert "/d5489e8995e81e91ce6b1d69dcc98ad579b0b153/" in record.url
        assert record.file_name.endswith(f"-{record.sha256[:8]}.th")  # as the publisher named them


def test_the_record_is_that_of_the_file(published):
    record = WEIGHTS[20]["cifar10"]
    data = published.read_bytes()
    assert (record.size, record.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_weights_of_another_depth_are_refused(published):
    with pytest.raises(WeightsMismatchError, match="stage1/3"):
        CIFARResNet(32, pretrained_model=published)


def test_other_classes_start_anew_and_are_named(published):
    with pytest.warns(UserWarning, match="2 initialized anew: fc/W, fc/b"):
        assert CIFARResNet(20, n_class=100, pretrained_model=published).label_names is None


@pytest.mark.slow
def test_the_published_network_names_3992_of_4000_pictures_rightly(published, shared):
    model = CIFARResNet(20, pretrained_model=published)
    with np.load(shared / "data" / "cifar10_train_4000.npz") as data:
        imgs, labels = data["images"].transpose(0, 3, 1, 2), data["labels"]
    assert (model.predict(imgs, batch_size=100).labels == labels).sum() == 3992  # 99.80 %


def test_the_published_network_gives_the_logits_that_it_should(published, shared):
    model = CIFARResNet(20, pretrained_model=published)
    want = np.load(shared / "weights" / "expected" / "resnet20_cifar10.npz")["logits_train100"]
    with np.load(shared / "data" / "cifar10_train_4000.npz") as data:
        x = np.stack([model.prepare(img) for img in data["images"][:100].transpose(0, 3, 1, 2)])
    with using_config("train", False), no_backprop_mode():
        np.testing.assert_allclose(model(x).array, want, atol=1e-4)


def test_a_picture_of_another_size_is_named_too(published, shared):
    model = CIFARResNet(20, pretrained_model=published)
    with np.load(shared / "data" / "cifar10_train_4000.npz") as data:
        imgs, labels = data["images"][:20].transpose(0, 3, 1, 2), data["labels"][:20]
    assert (model.predict([img.repeat(3, 1).repeat(4, 2) for img in imgs]).labels == labels).sum() >= 19
