"""Captured networks on a real GPU: what the made-up one shows, where no count of its calls is asked for."""

import pathlib

import numpy as np
import pytest
from neighbour import module_at

import cvzoo
from cvzoo.backends.capture import PrivatePool, captured
from cvzoo.backends.cuda.random_numbers import uniform
from cvzoo.backends.cupy.library import cupy, why_no_cupy

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

graphs = module_at(pathlib.Path(__file__).parents[1] / "graph/test_device_graphs.py")
SAME = [
    graphs.test_results_are_never_overwritten,
    graphs.test_arguments_may_lie_in_any_order_and_are_not_changed,
    graphs.test_shapes_have_graphs_of_their_own_in_one_pool,
    graphs.test_what_changes_a_network_is_noticed,
    graphs.test_a_network_that_reads_numbers_stays_eager_and_says_why,
    graphs.test_each_thread_has_its_own_graph,
    graphs.test_gradients_of_arguments_are_given,
    graphs.test_gradients_of_one_step_are_not_written_by_the_next,
    graphs.test_gradients_add_up_over_steps,
    graphs.test_a_forward_before_the_last_ones_backward_is_eager,
    graphs.test_inference_between_forward_and_backward_does_no_harm,
    graphs.test_a_seed_that_is_set_anew_is_followed,
]


@pytest.mark.parametrize("test", SAME, ids=lambda test: test.__name__)
@pytest.mark.parametrize("backend", ["cupy", "auto"])
def test_what_the_made_up_device_shows(test, backend):
    with cvzoo.using_config("backend", backend):
        test()


@pytest.mark.parametrize("mode", ["tf32", "mixed_bf16", "mixed_fp16"])
def test_other_dtypes_are_replayed(mode):
    graphs.test_other_dtypes_are_replayed(mode)


@pytest.mark.parametrize("drops", [False, True])
def test_training_steps_have_the_same_numbers(drops):
    net, plain = graphs.network(drops=drops), graphs.network(drops=drops)
    assert net.compile(graphs.on_gpu(graphs.draw(2, 3, 5, 6)), train=True) is not None
    for k in range(4):
        x = graphs.on_gpu(graphs.draw(2, 3, 5, 6, seed=k))
        cvzoo.set_seed(0)
        expected = graphs.learn(plain, x)
        cvzoo.set_seed(0)
        graphs.assert_close(graphs.learn(net, x), expected, 1e-4)


def test_a_graph_draws_what_eager_calls_draw():
    cvzoo.set_seed(3)
    eager = [uniform(1000).get() for _ in range(3)]
    cvzoo.set_seed(3)
    graph = captured(lambda: uniform(1000), PrivatePool())
    for expected in eager:
        graph.launch()
        np.testing.assert_array_equal(graph.result.get(), expected)


def test_a_failed_capture_leaves_the_device_usable():
    x = cupy().ones(3, np.float32)
    with pytest.raises(Exception, match="aptur"):
        captured(lambda: x.get(), PrivatePool())
    graph = captured(lambda: x + 1, PrivatePool())
    graph.launch()
    np.testing.assert_array_equal(graph.result.get(), 2)


@pytest.mark.parametrize("model", ["ResNet50", "MobileNetV2"])
@pytest.mark.parametrize("mode", ["float32", "tf32", "mixed_bf16"])
def test_networks_of_the_zoo_are_captured(model, mode):
    cvzoo.set_seed(0)
    net = getattr(cvzoo.links, model)(n_class=10)
    x = np.random.default_rng(0).standard_normal((2, 3, 64, 64)).astype(np.float32)
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        expected = net(x).array
        net.to_device("gpu:0")
        x = graphs.on_gpu(x)
        with cvzoo.using_config("dtype", mode):
            eager = net(x).array.get()
            assert net.compile(x) is not None
            replayed = [net(x).array.get() for _ in range(3)]
    scale = np.abs(expected).max()
    tolerance = {"float32": 1e-4, "tf32": 1e-2, "mixed_bf16": 5e-2}[mode] * scale
    np.testing.assert_allclose(eager, expected, rtol=0, atol=tolerance)
    for each in replayed:
        np.testing.assert_allclose(each, expected, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(each, replayed[0])
