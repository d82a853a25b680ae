"""The memory of replays: nobody leaves his block, nobody reads what is over, and what nobody needs goes away."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import weakref

import numpy as np
import pytest
from compiled_networks import Doing, Small, assert_near, eager, photos, replayed
from random_networks import Drawn

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.memory_views import address_of
from cvzoo.backends.onednn.bound_call import BoundCall
from cvzoo.backends.onednn.pool import pool
from cvzoo.graph import capture, compiled_graph, training_graph

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def model():
    return Small()


def run_guarded(*words):
    support = os.pathsep.join([os.fspath(ROOT), os.fspath(ROOT / "tests/support")])
    command = [sys.executable, ROOT / "tests/support/guarded_memory.py", *words]
    environment = dict(os.environ, PYTHONPATH=support)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.parametrize("side", ["start", "end"])
def test_no_kernel_leaves_the_memory_of_its_blocks(side):
    done = run_guarded(side)
    assert (done.returncode, done.stdout) == (0, "sound\n"), done.stderr[-2000:]
    assert run_guarded(side, "overrun").returncode == -signal.SIGSEGV


def poisoned(program):
    """The program with steps in between that overwrite all of the arena's memory that is not alive."""
    lowered, plan = program.lowered, program.plan
    alive = lowered.lifetimes()
    program._bind_arena()
    memory = program._arena._memory
    start = address_of(memory)

    def poison(k):
        def run():
            assert address_of(program._arena._memory) == start
            dead = np.ones(plan.nbytes, bool)
            for number, offset in plan.offsets.items():
                if alive[number][0] <= k < alive[number][1]:
                    dead[offset : offset + lowered.blocks[number].nbytes] = False
            memory[: plan.nbytes][dead] = 255

        return run

    steps, belongs = program._steps, program._belongs
    changed = []
    for i, step in enumerate(steps):
        if i == program._middle:
            middle = len(changed)
        changed.append(step)
        if i + 1 == len(steps) or belongs[i + 1] != belongs[i]:
            changed.append(poison(belongs[i]))
    if program._middle is not None:
        program._middle = middle if program._middle < len(steps) else len(changed)
    program._steps = changed
    program._belongs = [0] * len(changed)
    return len(changed) - len(steps)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (Small, (2, 3, 9, 11)),
        (lambda: L.ResNet50(n_class=3), (1, 3, 64, 64)),
        (lambda: L.SqueezeNet1_1(n_class=3), (1, 3, 65, 79)),
        (lambda: L.MobileNetV2(n_class=3), (1, 3, 64, 64)),
    ],
    ids=["small", "resnet50", "squeezenet", "mobilenet"],
)
def test_nothing_is_read_after_the_plan_says_that_it_is_over(make, shape):
    model = make()
    graph = model.compile(photos(0, shape))
    expected = replayed(model, photos(1, shape))
    assert poisoned(graph.program) > 3
    for _ in range(2):
        assert_near(replayed(model, photos(1, shape)), expected)
    assert_near(expected, eager(model, photos(1, shape)))


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_read_after_it_is_over_in_networks_drawn_at_random(seed):
    shape = (2, 4, 24, 25)
    model = Drawn(np.random.default_rng(seed), shape[2:])
    graph = model.compile(Variable(photos(0, shape)))
    expected = replayed(model, Variable(photos(1, shape)))
    poisoned(graph.program)
    assert_near(replayed(model, Variable(photos(1, shape))), expected)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_read_after_it_is_over_on_the_way_back(seed):
    shape = (2, 4, 24, 25)
    model = Drawn(np.random.default_rng(seed), shape[2:])
    model.results = [len(model.plan)]
    graph = model.compile(Variable(photos(0, shape)), train=True)

    def gradients():
        model.cleargrads()
        x = Variable(photos(1, shape))
        (y,) = model(x)
        F.sum(y * y).backward()
        return [x.grad, *(parameter.grad for parameter in model.params() if parameter.grad is not None)]

    expected = gradients()
    poisoned(graph.program)
    for _ in range(2):
        for a, b in zip(gradients(), expected):
            np.testing.assert_array_equal(a, b)
    assert model.graphs() == [graph]


@pytest.mark.parametrize("last", [1, 2, 4])
def test_an_interrupt_while_blocks_find_their_places_leaves_it_usable(model, monkeypatch, last):
    graph = model.compile(photos())
    expected = eager(model, photos(1))
    bind, calls = BoundCall.bind, []

    def fails_once(self, k, address):
        calls.append(k)
        if len(calls) == last:
            raise KeyboardInterrupt
        bind(self, k, address)

    graph.program.displace()
    graph.program._arena.__init__()  # elsewhere
    elsewhere = [np.full(100_000, 255, np.uint8) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(BoundCall, "bind", fails_once)
        with pytest.raises(KeyboardInterrupt):
            replayed(model, photos(1))
    for _ in range(2):
        assert_near(replayed(model, photos(1)), expected)
    assert all((each == 255).all() for each in elsewhere)


def test_shapes_that_take_turns_share_memory_and_give_the_networks_numbers(model):
    shapes = [(1, 3, 8, 8), (2, 3, 33, 31), (1, 3, 5, 64), (4, 3, 40, 40)]
    for shape in shapes:
        model.compile(photos(0, shape))
    for k in range(12):
        shape = shapes[k * 7 % len(shapes)]
        assert_near(replayed(model, photos(k, shape)), eager(model, photos(k, shape)))


def test_forgotten_graphs_are_gone_at_once(model):
    gc.disable()
    try:
        for end in (lambda: model.forward.forget(), lambda: model.uncompile()):
            graph = model.compile(photos())
            replayed(model, photos(1))
            gone = weakref.ref(graph), weakref.ref(graph.program)
            del graph
            end()
            assert [each() for each in gone] == [None, None]
            model.uncompile()
    finally:
        gc.enable()


def test_a_graph_that_had_to_go_is_gone_at_once(model):
    gc.disable()
    try:
        gone = weakref.ref(model.compile(photos(), limit=1))
        replayed(model, photos(0, (1, 3, 8, 8)))
        replayed(model, photos(0, (1, 3, 8, 8)))
        assert gone() is None
    finally:
        gc.enable()


def test_a_change_of_parameters_lets_the_old_graph_go(model):
    gone = weakref.ref(model.compile(photos()))
    model.conv.W.array[...] *= 2
    for seed in range(3):
        assert_near(replayed(model, photos(seed)), eager(model, photos(seed)))
    assert gone() is None


def resident():
    """Megabytes of this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_ever_new_shapes_leave_memory_as_it_is():
    model = Doing(lambda link, x: F.relu(link.conv(F.concat([x, link.conv(x)[:, :3]], axis=0))))
    model.compile(limit=3)

    def show(k):
        x = photos(0, (1, 3, 300 + k, 500 - k))
        model.compile(x, limit=3)
        for _ in range(2):
            replayed(model, x)
        return sum(graph.planned_peak for graph in model.graphs())

    for k in range(8):
        show(k)
    gc.collect()
    pool.release()
    before = resident()
    planned = [show(k) for k in range(8, 48)]
    assert len(model.graphs()) == 3
    gc.collect()
    pool.release()
    # primitives are kept, too, some 50 kB for each shape
    assert resident() - before < 30 < sum(planned) / 3e6


@pytest.mark.slow
def test_a_thousand_replays_leave_memory_as_it_is(model):
    model.compile(photos())
    for k in range(50):
        replayed(model, photos(k))
    gc.collect()
    before = len(gc.get_objects())
    for k in range(1000):
        replayed(model, photos(k % 50))
    gc.collect()
    assert len(gc.get_objects()) - before < 50


@pytest.mark.parametrize("train", [False, True])
def test_a_pass_that_was_recorded_is_forgotten_with_its_graph(train, monkeypatch):
    found = []

    class Seen(capture.Capture):
        def __init__(self):
            super().__init__()
            found.append(weakref.ref(self))

    for module in (compiled_graph, training_graph):
        monkeypatch.setattr(module, "Capture", Seen)
    model = L.Convolution2D(3, 4, 3)
    assert model.compile(np.ones((1, 3, 8, 8), np.float32), train=train) is not None
    model.uncompile()
    gc.collect()
    assert len(found) == 2
    assert [each() for each in found] == [None, None]
