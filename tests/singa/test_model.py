"""How a model is used, and how it is not."""

import copy
import pickle
import threading

import numpy as np
import pytest

import cvzoo
import cvzoo.links as L
from cvzoo.errors import DtypeError, GraphError, ShapeError, WeightsMismatchError
from cvzoo.singa import autograd, device, layer, model, opt, tensor


class Net(model.Model):
    """A convolution with statistics, and a linear layer."""

    def __init__(self):
        super().__init__()
        self.conv = layer.Conv2d(4, 3, padding=1)
        self.bn = layer.BatchNorm2d()
        self.flatten = layer.Flatten()
        self.fc = layer.Linear(3)
        self.loss = layer.SoftMaxCrossEntropy()

    def forward(self, x):
        return self.fc(self.flatten(autograd.relu(self.bn(self.conv(x)))))

    def train_one_batch(self, x, y):
        out = self.forward(x)
        loss = self.loss(out, y)
        self.optimizer(loss)
        return out, loss


def batch(n=4, channels=2):
    rng = np.random.default_rng(n)
    tx = tensor.from_numpy(rng.normal(size=(n, channels, 6, 6)))
    return tx, tensor.from_numpy(rng.integers(0, 3, n))


def trained(use_graph=True, n_step=3):
    net = Net()
    net.set_optimizer(opt.SGD(lr=0.1, momentum=0.9))
    tx, ty = batch()
    net.compile([tx], is_train=True, use_graph=use_graph, sequential=False)
    for _ in range(n_step):
        net(tx, ty)
    return net


@pytest.mark.parametrize("training", [True, False])
def test_a_call_before_compile_says_what_to_do(training):
    net = Net()
    net.train(training)
    with pytest.raises(GraphError, match=r"not compiled yet[\s\S]*model\.compile"):
        net(batch()[0])


def test_a_step_without_an_optimizer_says_what_to_do():
    net = Net()
    tx, ty = batch()
    net.compile([tx])
    with pytest.raises(GraphError, match=r"no optimizer[\s\S]*set_optimizer"):
        net(tx, ty)


def test_a_model_without_train_one_batch_only_computes():
    class Only(model.Model):
        def forward(self, x):
            return autograd.relu(x)

    net = Only()
    tx, ty = batch()
    net.compile([tx], is_train=True)
    with pytest.raises(GraphError, match="no train_one_batch"):
        net(tx, ty)
    net.eval()
    np.testing.assert_array_equal(tensor.to_numpy(net(tx)), np.maximum(tensor.to_numpy(tx), 0))


def test_a_model_without_forward_says_so():
    with pytest.raises(GraphError, match="write forward"):
        model.Model().compile([batch()[0]])


@pytest.mark.parametrize("inputs", [[], None, np.zeros((1, 2)), [np.zeros((1, 2))]])
def test_compile_wants_a_list_of_tensors(inputs):
    with pytest.raises(DtypeError, match="list of Tensors"):
        Net().compile(inputs)


def test_an_optimizer_is_something_that_is_called():
    with pytest.raises(DtypeError, match="set_optimizer"):
        Net().set_optimizer(0.1)


@pytest.mark.parametrize("use_graph", [True, False])
def test_photos_with_other_channels_than_compiled_are_refused(use_graph):
    net = trained(use_graph)
    with pytest.raises(ShapeError, match="Conv2d"):
        net(*batch(channels=3))
    net.eval()
    with pytest.raises(ShapeError, match="Conv2d"):
        net(batch(channels=3)[0])


def test_other_batch_sizes_may_come_after_compile():
    losses = []
    for use_graph in (True, False):
        cvzoo.set_seed(0)
        net = trained(use_graph)
        for n in (2, 5, 2, 5, 2, 5, 2, 5):
            out, loss = net(*batch(n))
            assert out.shape == (n, 3)
            losses.append(loss.item())
        assert bool(net.graphs()) == use_graph
    np.testing.assert_allclose(losses[:8], losses[8:], rtol=1e-4)


def test_too_few_labels_are_refused():
    net = trained()
    with pytest.raises(ShapeError, match="x and t do not fit"):
        net(batch(4)[0], batch(3)[1])


def test_train_and_eval_say_what_a_call_does():
    net = trained()
    assert autograd.training
    tx, ty = batch()
    assert len(net(tx, ty)) == 2
    net.eval()
    assert not autograd.training
    assert net(tx).shape == (4, 3)
    before = tensor.to_numpy(net(tx))
    np.testing.assert_allclose(tensor.to_numpy(net(tx)), before, rtol=1e-5)
    net.train()
    assert autograd.training
    net(tx, ty)
    net.eval()
    assert np.abs(tensor.to_numpy(net(tx)) - before).max() > 1e-4


def test_compile_leaves_running_statistics_and_draws_alone():
    net = Net()
    net.compile([batch()[0]])
    np.testing.assert_array_equal(net.bn.running_mean, np.zeros(4))
    np.testing.assert_array_equal(net.bn.running_var, np.ones(4))


def test_a_graph_is_turned_on_and_off():
    net = trained(use_graph=False, n_step=1)
    assert not net.graphs()
    net.graph(True)
    tx, ty = batch()
    for _ in range(3):
        net(tx, ty)
    assert [graph.n_record > 3 for graph in net.graphs()] == [True]
    assert "Net.forward" in net.graphs()[0].summary()
    net.graph(False)
    assert not net.graphs()
    net(tx, ty)
    assert not net.graphs()


def test_what_a_replay_gives_is_not_overwritten_by_the_next():
    net = trained()
    tx, ty = batch()
    first, _ = net(tx, ty)
    kept = tensor.to_numpy(first)
    second, _ = net(tx, ty)
    np.testing.assert_array_equal(tensor.to_numpy(first), kept)
    assert (tensor.to_numpy(second) != kept).any()


def test_states_that_are_set_are_seen_by_the_graph():
    net = trained()
    net.eval()
    tx, _ = batch()
    for _ in range(3):
        net(tx)
    states = {name: tensor.to_numpy(value) for name, value in net.get_states().items()}
    other = trained(use_graph=False, n_step=9)
    net.set_states(other.get_states())
    other.eval()
    np.testing.assert_allclose(tensor.to_numpy(net(tx)), tensor.to_numpy(other(tx)), rtol=1e-5, atol=1e-5)
    net.set_states(states)
    assert (tensor.to_numpy(net.conv.W) == states["conv.W"]).all()


def test_names_of_parameters_and_states_are_those_of_singa():
    net = trained()
    assert list(net.get_params()) == ["conv.W", "conv.b", "bn.scale", "bn.bias", "fc.W", "fc.b"]
    assert set(net.get_states()) - set(net.get_params()) == {"bn.running_mean", "bn.running_var"}
    assert {name: value.shape for name, value in net.get_params().items() if name.endswith("W")} == {
        "conv.W": (4, 2, 3, 3),
        "fc.W": (144, 3),
    }
    assert all(value.name == name for name, value in net.get_params().items())


def test_wrong_names_and_shapes_change_nothing():
    net = trained()
    before = tensor.to_numpy(net.fc.b)
    with pytest.raises(WeightsMismatchError, match=r"fc\.c"):
        net.set_params({"fc.b": np.ones(3), "fc.c": np.ones(3)})
    with pytest.raises(ShapeError, match=r"fc\.W"):
        net.set_params({"fc.b": np.ones(3), "fc.W": np.ones(3)})
    np.testing.assert_array_equal(tensor.to_numpy(net.fc.b), before)
    net.set_params({"fc.b": np.ones(3)})
    np.testing.assert_array_equal(tensor.to_numpy(net.fc.b), np.ones(3))


def test_layers_and_links_of_cvzoo_may_stand_in_a_model():
    class Mixed(Net):
        def __init__(self):
            super().__init__()
            self.head = L.Linear(3, 3)

        def forward(self, x):
            return self.head(super().forward(x))

    net = Mixed()
    net.set_optimizer(opt.SGD(lr=0.1))
    tx, ty = batch()
    net.compile([tx], use_graph=True)
    before = net.head.W.array.copy()
    for _ in range(3):
        out, loss = net(tx, ty)
    assert isinstance(out, tensor.Tensor)
    assert (net.head.W.array != before).any()
    assert "head.W" in net.get_params()
    assert loss.ndim() == 1


def test_what_python_does_with_numbers_stays_eager_and_is_named():
    class Looks(Net):
        def forward(self, x):
            y = super().forward(x)
            return y * 2.0 if tensor.to_numpy(y).sum() > 0 else y

    net = Looks()
    net.set_optimizer(opt.SGD(lr=0.01))
    tx, ty = batch()
    net.compile([tx], use_graph=True)
    net(tx, ty)
    with pytest.warns(RuntimeWarning, match=r"values are read in forward, line \d+ of .*test_model"):
        net(tx, ty)
    out, _ = net(tx, ty)
    assert out.shape == (4, 3)


def test_a_failed_step_leaves_the_model_usable():
    class Fails(Net):
        fail = False

        def train_one_batch(self, x, y):
            out = self.forward(x)
            if Fails.fail:
                raise KeyError("in the midst")
            loss = self.loss(out, y)
            self.optimizer(loss)
            return out, loss

    net = Fails()
    net.set_optimizer(opt.SGD(lr=0.1))
    tx, ty = batch()
    net.compile([tx], use_graph=True)
    for k in range(6):
        Fails.fail = k in (2, 4)
        if Fails.fail:
            with pytest.raises(KeyError):
                net(tx, ty)
        else:
            net(tx, ty)
    assert cvzoo.config.switches.train
    assert cvzoo.config.switches.enable_backprop


def test_threads_may_call_a_model():
    net = trained()
    net.eval()
    tx, _ = batch()
    wanted = tensor.to_numpy(net(tx))
    found = []

    def call():
        found.extend(tensor.to_numpy(net(tx)) for _ in range(4))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 12
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-5, atol=1e-5)


def test_a_copy_is_a_model_of_its_own():
    net = trained()
    tx, ty = batch()
    for twin in (copy.deepcopy(net), net.copy("copy")):
        np.testing.assert_array_equal(tensor.to_numpy(twin.conv.W), tensor.to_numpy(net.conv.W))
        twin.set_optimizer(opt.SGD(lr=0.1))
        for _ in range(2):
            twin(tx, ty)
        assert (tensor.to_numpy(twin.conv.W) != tensor.to_numpy(net.conv.W)).any()
        assert isinstance(twin.conv.W, tensor.Tensor)


def test_forward_may_be_called_itself():
    net = trained()
    tx, _ = batch()
    net.eval()
    np.testing.assert_array_equal(tensor.to_numpy(net.forward(tx)), tensor.to_numpy(net(tx)))
    assert net.forward(tx).creator is None
    net.train()
    assert net.forward(tx).creator is not None


def test_a_model_is_on_the_processor():
    net = trained()
    assert net.device is device.get_default_device()
    assert net.to(device.get_default_device()) is net
    with pytest.raises(DtypeError):
        net.to("gpu")


def test_the_device_tells_how_long_things_took(capsys):
    net = trained(use_graph=False)
    dev = device.get_default_device()
    tx, ty = batch()
    dev.SetVerbosity(2)
    dev.SetSkipIteration(1)
    for _ in range(3):
        net(tx, ty)
    assert [len(dev.seconds[way]) for way in ("forward", "backward")] == [3, 3]
    dev.PrintTimeProfiling()
    text = capsys.readouterr().out
    assert "Forward Propagation Time : " in text
    assert "Backward Propagation Time : " in text
    assert "Convolution2D" in text
    dev.SetVerbosity(0)
    net(tx, ty)
    assert not dev.seconds


def test_threads_train_models_of_their_own():
    def losses_of(seed, found):
        cvzoo.set_seed(seed)
        net = Net()
        net.set_optimizer(opt.SGD(lr=0.1, momentum=0.9))
        tx, ty = batch()
        net.compile([tx], use_graph=True)
        found[seed] = [net(tx, ty)[1].item() for _ in range(8)]

    alone, together = {}, {}
    for seed in range(3):
        losses_of(seed, alone)
    threads = [threading.Thread(target=losses_of, args=(seed, together)) for seed in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert together.keys() == alone.keys()
    for seed, losses in alone.items():
        np.testing.assert_allclose(together[seed], losses, rtol=1e-5)


def test_files_of_cvzoo_hold_a_model_too(tmp_path):
    net, other = trained(use_graph=False), trained(use_graph=False, n_step=1)
    cvzoo.serializers.save_npz(tmp_path / "net.npz", net)
    cvzoo.serializers.load_npz(tmp_path / "net.npz", other)
    for name, value in net.get_states().items():
        np.testing.assert_array_equal(tensor.to_numpy(other.get_states()[name]), tensor.to_numpy(value))


def test_pickles_are_models_and_a_compiled_one_is_refused():
    net = trained(use_graph=False)
    twin = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(tensor.to_numpy(twin.fc.W), tensor.to_numpy(net.fc.W))
    net.graph(True)
    with pytest.raises(GraphError, match="compiled link is not pickled"):
        pickle.dumps(net)
