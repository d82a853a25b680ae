"""Passes over graphs that learn: forward and backward numbers stay, and what should be found is found."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.config.switches import using_config
from cvzoo.graph import passes
from cvzoo.graph.capture import Capture
from cvzoo.graph.hidden import put_array, take_array
from cvzoo.graph.passes.recompute import RecomputationPlan


def array(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


@pytest.fixture(autouse=True)
def learning():
    with using_config("train", True):
        yield


def capture_training(call, *arrays):
    """The graph there and back, its inputs, and what they give."""
    capture = Capture()
    result, gradients = capture.capture_training(
        call, tuple([Variable(x, requires_grad=True) for x in arrays]), {}, without=frozenset()
    )
    assert not capture.reasons
    results = result if isinstance(result, tuple) else (result,)
    generator = np.random.default_rng(0)
    seeds = []
    for k in capture.seeds:
        seeds.append(np.empty_like(results[k].array))
        seeds[-1][...] = generator.normal(size=seeds[-1].shape)
    return capture.graph, [*arrays, *seeds], [y.array for y in results] + gradients


def run(graph, inputs):
    """The graph's outputs, function by function; values are forgotten behind the last reader, as in memory."""
    known = {**graph.constants, **dict(zip(graph.inputs, inputs))}
    last = {value: k for k, record in enumerate(graph.records) for value in (*record.all_reads, *record.all_writes)}
    for k, record in enumerate(graph.records):
        for path, value in record.hidden_reads.items():
            put_array(record.function, path, known[value])
        results = record.function.forward(tuple([known[value] for value in record.reads]))
        known.update(zip(record.writes, results))
        known.update({value: take_array(record.function, path) for path, value in record.hidden_writes.items()})
        for value in (*record.all_reads, *record.all_writes):
            if last[value] == k and value not in graph.outputs:
                known.pop(value, None)
    return [known[value] for value in graph.outputs]


def labels(graph, *, backward):
    return [record.label for record in graph.records if record.in_backward == backward]


class Norm:
    """Batch normalization with parameters and running statistics."""

    def __init__(self, n, seed):
        self.gamma, self.beta = Parameter(array(n, seed=seed)), Parameter(array(n, seed=seed + 1))
        self.mean, self.var = np.zeros(n, np.float32), np.ones(n, np.float32)

    def __call__(self, x):
        return F.batch_normalization(x, self.gamma, self.beta, running_mean=self.mean, running_var=self.var)


class Block:
    """conv, norm, relu, conv, norm, a shortcut, relu."""

    def __init__(self, n, seed):
        self.w = [Parameter(array(n, n, 3, 3, seed=seed) * 0.1), Parameter(array(n, n, 1, 1, seed=seed + 1) * 0.3)]
        self.norms = [Norm(n, seed + 2), Norm(n, seed + 4)]

    def __call__(self, x):
        h = F.relu(self.norms[0](F.convolution_2d(x, self.w[0], pad=1)))
        return F.relu(self.norms[1](F.convolution_2d(h, self.w[1])) + x)


def chain(n_block, channels=16):
    stem, norm = Parameter(array(channels, 3, 3, 3) * 0.2), Norm(channels, 50)
    blocks = [Block(channels, 10 * k) for k in range(n_block)]

    def call(x):
        h = F.relu(norm(F.convolution_2d(x, stem, pad=1)))
        for block in blocks:
            h = block(h)
        return F.average_pooling_2d(h, 12)

    return call


X = array(4, 3, 12, 12, seed=3)
TRAINING_PASSES = (
    passes.fuse_batch_norm_relu_training,
    passes.fuse_add_relu_training,
    passes.fuse_sums_of_gradients,
    passes.recompute,
)


@pytest.mark.parametrize("change", TRAINING_PASSES)
@pytest.mark.parametrize("n_block", [2, 5])
def test_the_numbers_of_a_residual_network_stay_to_the_bit(change, n_block):
    graph, inputs, expected = capture_training(chain(n_block), X)
    assert change(graph) > 0
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_all_together_leave_the_numbers():
    graph, inputs, expected = capture_training(chain(4), X)
    counts = [change(graph) for change in TRAINING_PASSES]
    assert counts[:3] == [5, 4, 4]
    assert counts[3] > 0
    assert "ReLU" not in labels(graph, backward=False)
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_normalizations_that_would_be_rounded_differently_stay():
    graph, inputs, expected = capture_training(chain(4, 10), X)
    assert [change(graph) for change in TRAINING_PASSES[:3]] == [0, 4, 4]
    plan = RecomputationPlan(graph)
    assert not plan.candidates
    assert passes.recompute(graph) == 0
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_other_numbers_than_the_recorded_ones_come_out_right():
    call = chain(3)
    graph, inputs, _ = capture_training(call, X)
    for change in TRAINING_PASSES:
        change(graph)
    other = array(*X.shape, seed=9)
    _, _, expected = capture_training(call, other)
    for got, wanted in zip(run(graph, [other, *inputs[1:]]), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_running_statistics_change_once():
    call = chain(2)
    graph, inputs, _ = capture_training(call, X)
    norms = [record.function.effect for record in graph.records if record.function.effect is not None]
    before = [statistic.copy() for statistic in norms]
    run(graph, inputs)
    once = [statistic.copy() for statistic in norms]
    for change in TRAINING_PASSES:
        change(graph)
    for statistic, value in zip(norms, before):
        statistic[...] = value
    run(graph, inputs)
    assert len(norms) == 10
    for statistic, value, old in zip(norms, once, before):
        np.testing.assert_array_equal(statistic, value)
        assert not np.array_equal(value, old)


def conv(n=16, seed=1):
    w = Parameter(array(n, n, 3, 3, seed=seed) * 0.1)
    return lambda x: F.convolution_2d(x, w, pad=1)


H = array(2, 16, 10, 10, seed=5)


def test_a_normalization_that_somebody_else_reads_keeps_its_relu():
    norm, first, second = Norm(16, 0), conv(), conv(seed=2)

    def twice(x):
        h = norm(first(x))
        return second(F.relu(h)) + h

    for call in (twice, lambda x: F.leaky_relu(norm(first(x)), 0.1), lambda x: F.relu(first(x))):
        graph, inputs, expected = capture_training(call, H)
        n = len(graph.records)
        assert passes.fuse_batch_norm_relu_training(graph) == 0
        assert len(graph.records) == n
        for got, wanted in zip(run(graph, inputs), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_sums_that_are_no_case_stay():
    first, bias = conv(), Parameter(array(16, 1, 1))

    def broadcast(x):
        return F.relu(first(x) + bias)

    def read_twice(x):
        h = first(x) + x
        return F.relu(h) * h

    for call in (broadcast, read_twice):
        graph, _, _ = capture_training(call, H)
        assert passes.fuse_add_relu_training(graph) == 0


def test_of_two_convolutions_gradients_the_later_one_takes_the_sum():
    first, second = conv(), conv(seed=2)
    graph, inputs, expected = capture_training(lambda x: first(x) * second(x), H)
    assert passes.fuse_sums_of_gradients(graph) == 1
    assert labels(graph, backward=True).count("Deconvolution2D") == 1
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_three_gradients_are_summed_in_two_convolutions():
    convs = [conv(seed=k) for k in range(3)]
    graph, inputs, expected = capture_training(lambda x: convs[0](x) * convs[1](x) * convs[2](x), H)
    assert passes.fuse_sums_of_gradients(graph) == 2
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_recomputing_lowers_what_is_alive():
    graph, _, _ = capture_training(chain(6), X)
    for change in TRAINING_PASSES[:3]:
        change(graph)
    before = RecomputationPlan(graph).peak({})
    assert passes.recompute(graph) > 0
    assert RecomputationPlan(graph).peak({}) < 0.8 * before


def test_convolutions_poolings_and_random_functions_are_not_computed_again():
    first, second = conv(), conv(seed=2)

    def call(x):
        h = F.dropout(F.max_pooling_2d(first(x), 2), 0.5)
        return second(second(F.relu(first(h))))

    graph, _, _ = capture_training(call, H)
    before = sorted(labels(graph, backward=False) + labels(graph, backward=True))
    assert passes.recompute(graph) == 0
    assert sorted(labels(graph, backward=False) + labels(graph, backward=True)) == before


def test_everything_that_may_go_can_be_computed_again():
    graph, inputs, expected = capture_training(chain(6), X)
    for change in TRAINING_PASSES[:3]:
        change(graph)
    plan = RecomputationPlan(graph)
    assert len(plan.candidates) == 13  # each relu
    plan.apply(dict.fromkeys(plan.candidates))
    backward = labels(graph, backward=True)
    assert backward.count("AddReLU") == 6
    assert backward.count("FixedBatchNormalization") == 6
    assert backward.count("FixedBatchNormalizationReLU") == 7
    made = set(graph.inputs) | set(graph.constants)
    for record in graph.records:  # in an order in which all can run
        assert made.issuperset(record.all_reads)
        made.update(record.all_writes)
    first = labels(graph, backward=False)
    assert [record.label for record in graph.records[: len(first)]] == first
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("where", ["photo", "filters", "gamma of a block", "beta of the stem"])
def test_a_nan_on_the_way_is_seen_at_the_end(where):
    stem, norm, block = Parameter(array(16, 3, 3, 3) * 0.2), Norm(16, 50), Block(16, 7)

    def call(x):
        return F.max_pooling_2d(block(F.relu(norm(F.convolution_2d(x, stem, pad=1)))), 2)

    graph, inputs, _ = capture_training(call, X.copy())
    for change in TRAINING_PASSES[:3]:
        assert change(graph) > 0
    places = {"filters": stem, "gamma of a block": block.norms[1].gamma, "beta of the stem": norm.beta}
    array_of = inputs[0] if where == "photo" else places[where].array
    array_of.reshape(-1)[0] = np.nan
    assert np.isfinite(run(graph, inputs)[0]).all()
    assert passes.keep_nan(graph) == 1
    assert np.isnan(run(graph, inputs)[0]).all()


def test_a_sound_network_is_left_alone_by_the_guard():
    graph, inputs, expected = capture_training(chain(2), X)
    for change in (*TRAINING_PASSES[:3], passes.keep_nan, passes.recompute):
        assert change(graph) > 0
    for got, wanted in zip(run(graph, inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_where_nothing_was_fused_there_is_no_guard():
    graph, _, _ = capture_training(chain(2), X)
    assert passes.keep_nan(graph) == 0


def test_sums_of_what_nobody_watches_keep_their_relu():
    first, second = conv(), conv(seed=2)
    graph, _, _ = capture_training(lambda x: F.relu(first(x) + second(x)), H)
    assert passes.fuse_add_relu_training(graph) == 0


# --- a sum between a normalization and relu, in one -------------------------------------------------------------------
DEVICE_PASSES = (
    passes.fuse_batch_norm_relu_training,
    passes.fuse_batch_norm_add_relu_training,
    passes.fuse_add_relu_training,
    passes.fuse_sums_of_gradients,
    passes.recompute,
)


@pytest.fixture(params=["numpy", "onednn"])
def kernels(request):
    if request.param == "onednn" and why_no_onednn() is not None:
        pytest.skip(f"no oneDNN: {why_no_onednn()}")
    with using_config("backend", request.param):
        yield


class Widening:
    """norm(conv(x)) + norm(conv(x)), relu; the shortcut is computed first or last."""

    def __init__(self, n, seed, *, shortcut_first):
        self.w = [Parameter(array(n, n, 1, 1, seed=seed + k) * 0.3) for k in range(2)]
        self.norms = [Norm(n, seed + 2), Norm(n, seed + 4)]
        self.shortcut_first = shortcut_first

    def __call__(self, x):
        parts = [norm(F.convolution_2d(x, w)) for norm, w in zip(self.norms, self.w)]
        return F.relu(parts[1] + parts[0] if self.shortcut_first else parts[0] + parts[1])


def assert_same(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("channels", [16, 10])
@pytest.mark.parametrize("n_block", [1, 4])
def test_sums_behind_normalizations_are_fused_to_the_bit(kernels, n_block, channels):
    graph, inputs, expected = capture_training(chain(n_block, channels), X)
    assert passes.fuse_batch_norm_add_relu_training(graph) == n_block
    assert labels(graph, backward=False).count("Add") == 0
    assert labels(graph, backward=False).count("ReLU") == 1 + n_block  # of the stem, and within blocks
    assert labels(graph, backward=True).count("BatchNormalizationReLUGrad") == n_block
    assert labels(graph, backward=True).count("gradient of ReLU") == 1 + n_block
    assert_same(run(graph, inputs), expected)


def test_all_that_a_gpu_has_leave_the_numbers(kernels):
    graph, inputs, expected = capture_training(chain(4), X)
    counts = [change(graph) for change in DEVICE_PASSES]
    assert counts[:4] == [5, 4, 0, 4]
    assert counts[4] > 0
    assert "ReLU" not in labels(graph, backward=False)
    assert "FixedBatchNormalizationReLU" in labels(graph, backward=True)
    assert_same(run(graph, inputs), expected)
    other = array(*X.shape, seed=9)
    _, _, expected = capture_training(chain(4), other)
    assert_same(run(graph, [other, *inputs[1:]]), expected)


@pytest.mark.parametrize("shortcut_first", [True, False])
def test_of_two_normalizations_the_later_one_takes_the_sum(kernels, shortcut_first):
    block, first = Widening(16, 0, shortcut_first=shortcut_first), conv()
    graph, inputs, expected = capture_training(lambda x: block(first(x)), H)
    (later,) = [r.reads[1] for r in graph.records if r.label == "BatchNormalization"][1:]
    assert passes.fuse_batch_norm_add_relu_training(graph) == 1
    (fused,) = [r for r in graph.records if r.label == "BatchNormalizationReLU"]
    assert fused.reads[1] == later
    assert labels(graph, backward=False).count("BatchNormalization") == 1
    assert_same(run(graph, inputs), expected)


def test_a_gradient_that_nobody_reads_is_not_made(kernels):
    norm, first, shortcut = Norm(16, 0), conv(), array(*H.shape, seed=6)
    graph, inputs, expected = capture_training(lambda x: F.relu(norm(first(x)) + shortcut), H)
    assert passes.fuse_batch_norm_add_relu_training(graph) == 1
    (back,) = [r for r in graph.records if r.label == "BatchNormalizationReLUGrad"]
    assert len(back.writes) == 3
    assert_same(run(graph, inputs), expected)


def test_a_gradient_that_is_given_is_made(kernels):
    norm, first = Norm(16, 0), conv()
    graph, inputs, expected = capture_training(lambda x, y: F.relu(norm(first(x)) + y), H, array(*H.shape, seed=6))
    assert passes.fuse_batch_norm_add_relu_training(graph) == 1
    (back,) = [r for r in graph.records if r.label == "BatchNormalizationReLUGrad"]
    assert back.writes[3] in graph.outputs
    assert_same(run(graph, inputs), expected)


def test_sums_behind_normalizations_that_are_no_case_stay():
    norm, first, second, bias = Norm(16, 0), conv(), conv(seed=2), Parameter(array(16, 1, 1))

    def later(x):  # what is added is not there yet
        h = norm(first(x))
        return F.relu(h + second(x))

    def twice(x):
        h = norm(first(x))
        return F.relu(h + h)

    def read(x):
        h = norm(first(x))
        return F.relu(h + x) * h

    def sum_is_read(x):
        h = norm(first(x)) + x
        return F.relu(h) * h

    def other_slope(x):
        return F.leaky_relu(norm(first(x)) + x, 0.1)

    for call in (later, twice, read, sum_is_read, other_slope, lambda x: F.relu(norm(first(x)) + bias)):
        graph, inputs, expected = capture_training(call, H)
        assert passes.fuse_batch_norm_add_relu_training(graph) == 0
        assert_same(run(graph, inputs), expected)


def test_of_a_sum_a_bit_a_number_is_kept():
    """What the gradient of relu reads: y, or a mask, where nobody else keeps y."""
    norm, first = Norm(16, 0), conv()

    def call(x):
        return F.sum(F.relu(norm(first(x)) + x))

    kept = []
    for is_fused in (False, True):
        graph, _, _ = capture_training(call, H)
        if is_fused:
            assert passes.fuse_batch_norm_add_relu_training(graph) == 1
        made = {value for r in graph.records if not r.in_backward for value in r.all_writes}
        read = {value for r in graph.records if r.in_backward for value in r.all_reads}
        kept.append(sum(graph.values[value].nbytes for value in made & read))
    assert kept[0] - kept[1] == H.nbytes - H.size // 8


@pytest.mark.parametrize("recomputes", [False, True])
def test_where_sums_are_kept_all_the_same_masks_take_little(recomputes):
    peaks = []
    for changes in (TRAINING_PASSES[:3], DEVICE_PASSES[:4]):
        graph, _, _ = capture_training(chain(6), X)
        for change in changes:
            change(graph)
        if recomputes:
            assert passes.recompute(graph) > 0
        peaks.append(RecomputationPlan(graph).peak({}))
    assert peaks[1] < (1 + 1 / 32) * peaks[0]
