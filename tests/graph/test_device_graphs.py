"""Compiled networks on a GPU: captured once, launched again. On a made-up GPU whose capture records and replays."""

import contextlib
import gc
import threading
import warnings

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.config.randomness import get_random_state, set_random_state
from cvzoo.errors.exceptions import GraphError


@pytest.fixture(autouse=True, params=["at once", "late", "cuDNN"])
def machine(fake_gpu, request):
    """Streams that run at once, streams that run when somebody waits, and a stand-in of cuDNN."""
    with contextlib.ExitStack() as stack:
        machine = stack.enter_context(fake_gpu(devices=2, late=request.param == "late"))
        if request.param == "cuDNN":
            fake_cudnn = pytest.importorskip("fake_gpu.fake_cudnn")
            stack.enter_context(fake_cudnn.installed(machine))
        yield machine


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


class Network(L.Chain):
    """Convolutions, normalizations, a sum, two heads."""

    def __init__(self, *, drops=False):
        super().__init__()
        self.drops = drops
        with self.init_scope():
            self.first = L.Convolution2D(3, 16, 3, pad=1, nobias=True)
            self.norm = L.BatchNormalization(16)
            self.second = L.Convolution2D(16, 16, 3, pad=1)
            self.head = L.Linear(16 * 30, 5)

    def forward(self, x):
        h = F.relu(self.norm(self.first(x)))
        h = F.relu(self.second(h) + h)
        if self.drops:
            h = F.dropout(h, 0.3)
        return self.head(F.reshape(h, (h.shape[0], -1))), F.average(h, axis=(2, 3))


def network(device="gpu:0", **settings):
    cvzoo.set_seed(0)
    return Network(**settings).to_device(device)


def on_gpu(array, device=0):
    import cupy

    with cupy.cuda.Device(device):
        return cupy.asarray(array)


def infer(net, x):
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        return [y.array.get() for y in net(x)]


def assert_close(got, expected, tolerance=1e-5):
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(np.abs(b).max(), 1e-6))


# --- inference --------------------------------------------------------------------------------------------------------
def test_a_call_is_a_copy_a_launch_and_a_copy(machine):
    net, x = network(), on_gpu(draw(2, 3, 5, 6))
    expected = infer(net, x)
    graph = net.compile(x)
    assert graph is not None
    assert graph.changed["fold_batch_normalization"] == 1
    assert graph.changed["fuse_convolutions"] == 3
    assert_close(infer(net, x), expected)
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        other = on_gpu(draw(2, 3, 5, 6, seed=1))
        machine.recorder.clear()
        net(other)
    counts = machine.recorder.counts()
    assert counts["graph_launch"] == 1
    assert counts["launch"] + counts["d2d"] == 2  # the argument in, the results out
    assert not machine.recorder.of("sync", "h2d", "d2h")
    assert_close(infer(net, other), infer(network(), other))


def test_an_example_of_the_host_goes_where_the_network_is():
    net, x = network(), draw(2, 3, 5, 6)
    assert net.compile(x) is not None
    assert net.compile(x, train=True) is not None
    assert_close(infer(net, on_gpu(x)), infer(network(), on_gpu(x)))


def test_results_are_never_overwritten():
    net = network()
    xs = [on_gpu(draw(2, 3, 5, 6, seed=k)) for k in range(3)]
    net.compile(xs[0])
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        kept = [net(x) for x in xs]
    for x, ys in zip(xs, kept):
        assert_close([y.array.get() for y in ys], infer(network(), x))
        ys[0].array.fill(7)  # ours to write into
    assert_close(infer(net, xs[0]), infer(network(), xs[0]))


def test_arguments_may_lie_in_any_order_and_are_not_changed():
    net, x = network(), draw(2, 3, 5, 6)
    net.compile(on_gpu(x))
    flipped = on_gpu(np.ascontiguousarray(x[:, ::-1]))[:, ::-1]
    expected = infer(network(), on_gpu(x))
    for _ in range(5):
        assert_close(infer(net, flipped), expected)
    np.testing.assert_array_equal(flipped.get(), x)


def test_shapes_have_graphs_of_their_own_in_one_pool():
    net = network()
    first = net.first
    xs = [on_gpu(draw(n, 3, 5, 6, seed=n)) for n in (1, 2, 3)]
    plain = [F.convolution_2d(x, first.W, pad=1).array.get() for x in xs]
    for x in xs:
        first.compile(x, limit=2)
    assert len(first.graphs()) == 2
    assert len({id(graph.program._pool) for graph in first.graphs()}) == 1
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        for x, y in [*zip(xs, plain)][::-1] * 3:
            np.testing.assert_allclose(first(x).array.get(), y, atol=1e-5)


def test_what_changes_a_network_is_noticed():
    net, plain, x = network(), network(), on_gpu(draw(2, 3, 5, 6))
    net.compile(x)

    def both():
        assert_close(infer(net, x), infer(plain, x))

    both()
    for each in (net, plain):
        each.first.W.array[...] *= 2
    both()
    for each in (net, plain):
        each.second.W.array = on_gpu(draw(16, 16, 3, 3, seed=9))
    both()
    for each in (net, plain):
        each(x)  # in training: running statistics go on, in place
    both()
    for each in (net, plain):
        each.load_arrays({name: value * 1.5 for name, value in each.state_arrays().items()})
    both()


def test_a_network_that_reads_numbers_stays_eager_and_says_why():
    class Looking(L.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.layer = L.Linear(4, 4)

        def forward(self, x):
            return self.layer(x) if float(x[0, 0]) > 0 else F.relu(self.layer(x))

    net = Looking().to_device("gpu:0")
    x = on_gpu(np.ones((2, 4), np.float32))
    with pytest.warns(RuntimeWarning, match="is not replayed as a graph: it cannot be captured"):
        assert net.compile(x) is None
    before, other = net.layer(x).array.get(), F.relu(net.layer(-x)).array.get()
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        np.testing.assert_allclose(net(x).array.get(), before, rtol=1e-6)
        np.testing.assert_allclose(net(-x).array.get(), other, rtol=1e-6)


def test_a_broken_capture_leaves_the_device_usable(machine):
    net, x = network(), on_gpu(draw(2, 3, 5, 6))

    class Copying(L.Chain):
        def __init__(self, inner):
            super().__init__()
            with self.init_scope():
                self.inner = inner

        def forward(self, x):
            x = x.array if isinstance(x, cvzoo.Variable) else x
            return self.inner(on_gpu(x.get()))

    outer = Copying(net)
    with pytest.warns(RuntimeWarning):
        outer.compile(x)
    assert outer.__dict__["forward"].reason
    assert_close(infer(outer, x), infer(network(), x))
    assert net.compile(x) is not None  # another one is captured none the less
    assert_close(infer(net, x), infer(network(), x))


def test_the_memory_of_graphs_that_are_gone_is_free():
    net, x = network(), on_gpu(draw(2, 3, 5, 6))
    graph = net.compile(x)
    assert graph.planned_peak > 0
    pool = graph.program._pool.memory
    assert 0 < pool.used_bytes() <= pool.total_bytes()
    del graph
    net.uncompile()
    gc.collect()
    assert pool.used_bytes() == 0


def test_each_device_has_its_own_graph():
    xs = [on_gpu(draw(2, 3, 5, 6), k) for k in (0, 1)]
    nets = [network(f"gpu:{k}") for k in (0, 1)]
    for net, x in zip(nets, xs):
        assert net.compile(x).program.device.name == f"gpu:{x.device.id}"
    for net, x in [*zip(nets, xs)] * 2:
        assert_close(infer(net, x), infer(network(), xs[0]))


def test_each_thread_has_its_own_graph():
    net, x = network(), on_gpu(draw(2, 3, 5, 6))
    net.compile(x)
    expected = infer(network(), x)
    seen = []

    def run():
        for _ in range(4):
            seen.append(infer(net, x))
        seen.append(len(net.graphs()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen.pop() == 1
    for each in seen:
        assert_close(each, expected)


def test_another_stream_waits_for_the_last_launch(machine):
    import cupy

    net, x = network(), on_gpu(draw(2, 3, 5, 6))
    net.compile(x)
    infer(net, x)
    machine.recorder.clear()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        infer(net, x)
    events = [(entry.name, entry.stream) for entry in machine.recorder.of("event")]
    assert events == [("wait", stream.ptr), ("record", stream.ptr)]


def test_summaries_name_the_functions_and_pictures_are_refused(tmp_path):
    net, x = network(), on_gpu(draw(2, 3, 5, 6))
    graph = net.compile(x)
    text = graph.summary()
    assert text.startswith("Network.forward: 10 functions as 6 of one captured graph on gpu:0")
    assert "FusedConvolution2D  2 x 16 x 5 x 6" in text
    with pytest.raises(GraphError):
        graph.draw(tmp_path / "memory.svg")
    with pytest.raises(GraphError):
        graph.profile()
    assert not any(tmp_path.iterdir())


# --- training ---------------------------------------------------------------------------------------------------------
def learn(net, x, scale=1.0):
    """Results, gradients and running statistics of a step."""
    first, second = net(x)
    net.cleargrads()
    (F.sum(first * first) * scale + F.sum(second)).backward()
    arrays = [first.array, second.array, *(p.grad for p in net.params()), net.norm.avg_mean, net.norm.avg_var]
    return [array.get() for array in arrays]


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("recompute", [False, True])
def test_a_training_step_is_two_launches_with_the_same_numbers(machine, drops, recompute):
    net, plain = network(drops=drops), network(drops=drops)
    state = get_random_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = net.compile(on_gpu(draw(2, 3, 5, 6)), train=True, recompute=recompute)
    assert graph is not None
    assert get_random_state() == state
    optimizers = [cvzoo.optimizers.MomentumSGD(lr=1e-3).setup(each) for each in (net, plain)]
    for k in range(4):
        x = on_gpu(draw(2, 3, 5, 6, seed=k))
        state = get_random_state()
        expected = learn(plain, x)
        after = get_random_state()
        set_random_state(state)
        machine.recorder.clear()
        got = learn(net, x)
        assert machine.recorder.counts()["graph_launch"] == 2
        assert get_random_state() == after
        assert_close(got, expected, 2e-5)
        for optimizer in optimizers:
            optimizer.update()


def test_gradients_of_arguments_are_given():
    net, plain = network(), network()
    net.compile(cvzoo.Variable(on_gpu(draw(2, 3, 5, 6))), train=True)
    found = []
    for each in (net, plain):
        x = cvzoo.Variable(on_gpu(draw(2, 3, 5, 6, seed=1)))
        y, z = each(x)
        (F.sum(y * y) + F.sum(z)).backward()
        found.append([x.grad.get()])
    assert_close(*found, 2e-5)


def test_gradients_of_one_step_are_not_written_by_the_next():
    net = network()
    x, other = on_gpu(draw(2, 3, 5, 6)), on_gpu(draw(2, 3, 5, 6, seed=1))
    net.compile(x, train=True)
    learn(net, x)
    kept = net.first.W.grad
    before = kept.get()
    learn(net, other)
    np.testing.assert_array_equal(kept.get(), before)


def test_gradients_add_up_over_steps():
    found = []
    for compiles in (False, True):
        net = network()
        if compiles:
            net.compile(on_gpu(draw(2, 3, 5, 6)), train=True)
        net.cleargrads()
        for k in range(3):
            y, z = net(on_gpu(draw(2, 3, 5, 6, seed=k)))
            (F.sum(y * y) + F.sum(z)).backward()
        found.append([p.grad.get() for p in net.params()])
    assert_close(found[1], found[0], 2e-5)


def test_a_forward_before_the_last_ones_backward_is_eager():
    net, plain = network(), network()
    xs = [on_gpu(draw(2, 3, 5, 6, seed=k)) for k in range(2)]
    net.compile(xs[0], train=True)
    found = []
    for each in (net, plain):
        losses = []
        for x in xs:
            y, z = each(x)
            losses.append(F.sum(y * y) + F.sum(z))
        each.cleargrads()
        for loss in losses:
            loss.backward()
        found.append([p.grad.get() for p in each.params()])
    assert_close(*found, 2e-5)


def test_inference_between_forward_and_backward_does_no_harm():
    net, plain = network(), network()
    x, other = on_gpu(draw(2, 3, 5, 6)), on_gpu(draw(2, 3, 5, 6, seed=1))
    net.compile(x, train=True)
    net.compile(x)
    found = []
    for each in (net, plain):
        y, z = each(x)
        between = infer(each, other)
        each.cleargrads()
        (F.sum(y * y) + F.sum(z)).backward()
        found.append([*between, *(p.grad.get() for p in each.params())])
    assert_close(*found, 2e-5)


def test_parameters_changed_in_place_are_learned_with_and_replaced_ones_are_noticed():
    net, plain, x = network(), network(), on_gpu(draw(2, 3, 5, 6))
    net.compile(x, train=True)
    for each in (net, plain):
        each.first.W.array[...] *= 2
    assert_close(learn(net, x), learn(plain, x), 2e-5)
    for each in (net, plain):
        each.second.W.array = on_gpu(draw(16, 16, 3, 3, seed=9) / 10)
    for _ in range(3):
        assert_close(learn(net, x), learn(plain, x), 2e-5)


@pytest.mark.parametrize("optimizer", ["MomentumSGD", "Adam"])
def test_what_was_learned_is_seen_in_inference(optimizer):
    net, plain, x = network(), network(), on_gpu(draw(2, 3, 5, 6))
    net.compile(x)
    net.compile(x, train=True)
    optimizers = [getattr(cvzoo.optimizers, optimizer)(1e-3).setup(each) for each in (net, plain)]
    for _ in range(3):
        for each, rule in zip((net, plain), optimizers):
            learn(each, x)
            rule.update()
        assert_close(infer(net, x), infer(plain, x), 1e-4)
    assert_close(learn(net, x), learn(plain, x), 1e-3)


def test_a_seed_that_is_set_anew_is_followed():
    net, plain, x = network(drops=True), network(drops=True), on_gpu(draw(2, 3, 5, 6))
    net.compile(x, train=True)
    for seed in (1, 2):
        found = []
        for each in (net, plain):
            for _ in range(2):
                cvzoo.set_seed(seed)
                found.append(learn(each, x)[:2])
        assert_close(found[0], found[2], 2e-5)
        assert_close(found[1], found[3], 2e-5)


# --- fewer bits -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["tf32", "mixed_bf16", "mixed_fp16"])
def test_other_dtypes_are_replayed(mode):
    net, plain, x = network(), network(), on_gpu(draw(2, 3, 5, 6))
    exact = infer(plain, x)
    with cvzoo.using_config("dtype", mode):
        graph = net.compile(x)
        assert graph.changed["fuse_convolutions"] == 3
        assert_close(infer(net, x), infer(plain, x), 2e-2)
        assert_close(infer(net, x), exact, 3e-2)
        assert net.compile(x, train=True) is not None
        assert_close(learn(net, x)[:-2], learn(plain, x)[:-2], 3e-2)
    assert_close(infer(net, x), infer(plain, x))  # another dtype is another graph
