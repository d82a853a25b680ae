"""From descriptions to plans: the same calls satisfy the stand-in and, where it is installed, the real library."""

import gc

import pytest
from fake_gpu.fake_cudnn import COMPILED

from cvzoo.backends.cudnn.descriptor import Descriptor
from cvzoo.backends.cudnn.graph import (
    Graph,
    Tensor,
    Window,
    channels_last,
    forward_graph,
    input_grad_graph,
    weight_grad_graph,
)
from cvzoo.backends.cudnn.library import CudnnError
from cvzoo.backends.cudnn.names import Attribute, Kind, Note, Type
from cvzoo.backends.cudnn.planner import ExecutionPlan, Rules, Target, build, candidates, first_candidates

WINDOW = Window((1, 1), (1, 1), (1, 1), (1, 1))
DTYPES = ["float32", "float16", "bfloat16"]
SMALL = Rules(strict=False, workspace_limit=16 << 20)


def graphs(dtype, x=(8, 64, 28, 28), w=(64, 64, 3, 3), y=(8, 64, 28, 28), window=WINDOW):
    dims = (x, w, y, window, dtype)
    found = [forward_graph(*dims, add=add, bias=True, relu=relu) for add in (False, True) for relu in (False, True)]
    found += [forward_graph(*dims, add=False, bias=False, relu=False)]
    found += [input_grad_graph(*dims, add=add) for add in (False, True)]
    return [*found, weight_grad_graph(*dims)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_that_the_backend_asks_for_has_a_plan_without_compiling(h100, dtype):
    for graph in graphs(dtype):
        plan = build(graph, SMALL, h100)
        assert plan is not None, graph.name
        assert not plan.compiled
        assert plan.workspace <= SMALL.workspace_limit
        assert plan.uids == graph.uids()


@pytest.mark.parametrize(
    ("x", "w", "y", "window"),
    [
        ((2, 64, 28, 28), (128, 64, 3, 3), (2, 128, 14, 14), Window((0, 0), (1, 1), (2, 2), (1, 1))),  # one side only
        ((2, 64, 28, 28), (64, 64, 4, 4), (2, 64, 29, 29), Window((2, 0), (2, 4), (1, 1), (1, 1))),
        ((2, 64, 28, 28), (64, 64, 3, 3), (2, 64, 28, 28), Window((12, 12), (12, 12), (1, 1), (12, 12))),  # dilated
        ((2, 128, 28, 28), (128, 4, 3, 3), (2, 128, 28, 28), WINDOW),  # 32 groups
        ((2, 96, 28, 28), (96, 48, 3, 3), (2, 96, 28, 28), WINDOW),  # two groups of odd size
        ((2, 64, 28, 28), (32, 64, 1, 7), (2, 32, 28, 28), Window((0, 3), (0, 3), (1, 1), (1, 1))),
        ((1, 24, 1, 1), (8, 24, 1, 1), (1, 8, 1, 1), Window((0, 0), (0, 0), (1, 1), (1, 1))),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_odd_windows_have_plans(h100, dtype, x, w, y, window):
    for strict in (True, False):
        for graph in graphs(dtype, x, w, y, window):
            assert build(graph, Rules(strict=strict), h100) is not None, (graph.name, strict)


def test_strict_float32_has_no_tensor_cores_and_16_bits_have(h100):
    reasons = []
    plan = next(candidates(graphs("float32")[0], Rules(strict=True), h100, reasons=reasons))
    assert any(f"[{int(Note.TENSOR_CORE)}" in reason for reason in reasons)
    loose = build(graphs("float32")[0], Rules(strict=False), h100)
    assert loose.engine != plan.engine
    assert build(graphs("bfloat16")[0], Rules(strict=True), h100) is not None


def test_kernels_without_order_are_for_who_wants_them(h100):
    graph = graphs("float32")[-1]
    ordered = {plan.engine for plan in candidates(graph, Rules(strict=False), h100)}
    loose = {plan.engine for plan in candidates(graph, Rules(strict=False, deterministic=False), h100)}
    assert ordered < loose


def test_a_limit_on_memory_is_kept(h100):
    for graph in graphs("float32"):
        assert all(plan.workspace <= 1000 for plan in candidates(graph, Rules(workspace_limit=1000), h100))


def test_what_has_no_plan_says_why(h100):
    reasons = []
    y = (8, 64, 28, 28)
    wrong = forward_graph(y, (64, 64, 3, 3), (8, 64, 27, 28), WINDOW, "float16", add=False, bias=False, relu=False)
    assert next(candidates(wrong, SMALL, h100, reasons=reasons), None) is None
    assert "status 2" in reasons[0] or "status 3" in reasons[0]
    assert build(wrong, SMALL, h100) is None


def test_the_first_candidates_are_different_kernels(h100):
    plans = first_candidates(graphs("bfloat16")[0], Rules(deterministic=False), h100, 3, 0)
    assert 1 < len(plans) <= 3
    assert not any(plan.compiled for plan in plans)


def test_compiled_candidates_come_last_and_are_few(fake_cudnn):
    place = Target.described(b"{}")
    plans = first_candidates(graphs("bfloat16")[0], Rules(), place, 8, 1)
    assert [plan.compiled for plan in plans] == [False, False, False, True]
    fake_cudnn.engines = {mode: [COMPILED] * 3 for mode in fake_cudnn.engines}
    assert len(first_candidates(graphs("bfloat16")[0], Rules(), place, 8, 2)) == 2
    assert build(graphs("bfloat16")[0], Rules(), place) is None


def test_a_plan_survives_as_json(h100):
    for graph in graphs("bfloat16"):
        plan = build(graph, SMALL, h100)
        again = ExecutionPlan.from_json(plan.to_json(), graph.uids(), h100)
        assert again.workspace == plan.workspace
        assert again.uids == plan.uids
        assert again.to_json() == plan.to_json()


@pytest.mark.parametrize("json", [b"", b"{}", b"[1]", b'{"version": 1}', b"\xff\x00"])
def test_json_that_is_no_plan_is_refused(fake_cudnn, json):
    place = Target(properties=Descriptor(Kind.DEVICE_PROPERTIES).set_text(Attribute.DEVICE_JSON, b"{}").finalize())
    with pytest.raises(CudnnError, match="no plan"):
        ExecutionPlan.from_json(json, (1, 2, 3), place)


def test_a_descriptor_is_not_changed_once_it_is_finalized(fake_cudnn):
    made = Descriptor(Kind.POINTWISE).set(Attribute.POINTWISE_MODE, Type.POINTWISE_MODE, 0).finalize()
    with pytest.raises(CudnnError, match="is finalized"):
        made.set(Attribute.POINTWISE_MODE, Type.POINTWISE_MODE, 1)


def test_descriptors_go_when_nobody_needs_them(fake_cudnn):
    place = Target.described(b"{}")
    plan = build(graphs("float32")[0], Rules(), place)
    assert fake_cudnn.objects
    del plan, place
    gc.collect()
    assert not fake_cudnn.objects


def test_strides_of_channels_last():
    assert channels_last((2, 3, 4, 5)) == (60, 1, 15, 3)
    assert channels_last((7, 8, 3, 3)) == (72, 1, 24, 8)


def test_a_graph_is_plain_data_that_can_be_looked_up():
    one, other = (graphs("float16")[3] for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert isinstance(one, Graph)
    assert one.name == "conv-add-bias-relu"
    assert one.uids() == (1, 2, 4, 5, 3)
    assert [tensor.dtype for tensor in one.tensors if tensor.virtual] == ["float32"] * 3
    assert isinstance(one.tensors[0], Tensor)
