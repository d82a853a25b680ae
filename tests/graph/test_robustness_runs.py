"""Replays among threads, in the midst of each other, interrupted, forked, and at the end of a process."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from compiled_networks import Doing, Small, arrays_of, assert_near, eager, photos, replayed

import cvzoo.functions as F
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.config.switches import no_backprop_mode, using_config

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def model():
    return Small()


def in_threads(count, work):
    """Call work(k) in `count` threads at once; the first error is raised here."""
    errors = []
    together = threading.Barrier(count)

    def run(k):
        try:
            together.wait()
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_many_threads_with_many_shapes_get_the_networks_numbers(model):
    shapes = [(1, 3, 7 + k, 9) for k in range(11)]  # more than are kept
    expected = {(shape, seed): eager(model, photos(seed, shape)) for shape in shapes for seed in range(2)}
    model.compile()

    def work(k):
        generator = np.random.default_rng(k)
        for _ in range(60):
            shape, seed = shapes[generator.integers(len(shapes))], int(generator.integers(2))
            assert_near(replayed(model, photos(seed, shape)), expected[shape, seed])

    in_threads(8, work)


def test_threads_that_compile_at_once_each_have_a_graph(model):
    expected = eager(model, photos(1))
    graphs = []

    def work(k):
        graphs.append(model.compile(photos(k)))
        assert_near(replayed(model, photos(1)), expected)

    in_threads(6, work)
    assert len({id(graph) for graph in graphs}) == 6


def test_what_a_thread_compiled_dies_with_it(model):
    arenas = []

    def work(k):
        arenas.append(weakref.ref(model.compile(photos(k)).program._arena))

    for _ in range(5):
        in_threads(4, work)
    gc.collect()
    assert len(arenas) == 20
    assert not [arena for arena in arenas if arena() is not None]


def test_a_parameter_changed_by_one_thread_is_seen_by_all(model):
    model.compile(photos())
    replayed(model, photos(1))
    turns = threading.Barrier(2)
    seen = []

    def work(k):
        replayed(model, photos(1))
        replayed(model, photos(1))
        turns.wait()
        if k == 0:
            model.fc.W.array[...] *= 3
            model.bn.avg_mean += 1
        turns.wait()
        seen.append(replayed(model, photos(1)))

    in_threads(2, work)
    for got in [*seen, replayed(model, photos(1))]:
        assert_near(got, eager(model, photos(1)))


class Tells(FunctionNode):
    """x, after somebody was told."""

    def __init__(self, tell):
        self.tell = tell

    def forward(self, inputs):
        self.tell()
        return (inputs[0] * 1,)


def telling(tell):
    """A network in whose midst tell() is called at each pass."""

    def tells(link, x):
        h = F.relu(link.conv(x))
        (h,) = Tells(tell).apply((h,))
        return F.concat([h, link.conv(h[:, :3])], axis=1)

    return Doing(tells)


def test_a_function_may_call_the_network_that_it_is_part_of():
    inner = []

    def call_again():
        if busy:
            busy.clear()
            with using_config("train", False), no_backprop_mode():
                inner.append(model(photos(7)))

    busy = []
    model = telling(call_again)
    model.compile(photos())
    expected = [eager(model, photos(1)), eager(model, photos(7))]
    for _ in range(3):
        busy.append(True)
        assert_near(replayed(model, photos(1)), expected[0])
        assert_near(inner.pop(), expected[1])


@pytest.mark.slow
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, SystemExit, ValueError])
def test_an_error_in_the_midst_of_a_replay_is_the_callers_and_the_next_replay_is_right(error):
    def fail():
        if armed:
            raise error

    armed = []
    model = telling(fail)
    graph = model.compile(photos())
    expected = eager(model, photos(1))
    for _ in range(3):
        armed.append(True)
        x = photos(2)
        with pytest.raises(error):
            replayed(model, x)
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None
        armed.clear()
        assert_near(replayed(model, photos(1)), expected)
    assert model.forward.graphs() == [graph]


def test_every_step_may_fail(model):
    graph = model.compile(photos())
    expected = eager(model, photos(1))
    steps = graph.program._steps

    def fail():
        raise MemoryError

    for k in range(len(steps) + 1):
        steps.insert(k, fail)
        with pytest.raises(MemoryError):
            replayed(model, photos(2))
        del steps[k]
        assert_near(replayed(model, photos(1)), expected)
    assert model.forward.graphs() == [graph]


class Alarm(BaseException):
    """Comes at any time."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals want the main thread")
def test_interrupts_at_any_time_leave_the_network_usable(own_switches, model, monkeypatch):
    def ring(number, frame):
        raise Alarm

    expected = [eager(model, photos(seed)) for seed in range(3)]
    model.compile(photos())
    before = signal.signal(signal.SIGALRM, ring)
    came, lost = 0, []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)  # in a destructor, no exception gets out
    try:
        for k in range(120):
            if k % 40 == 0:
                model.forward.forget()  # a third of the alarms come while it is recorded
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.00003 * k, 0.5)
                while not lost:
                    replayed(model, photos(1))
                came += len(lost)
                lost.clear()
            except Alarm:
                came += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert_near(replayed(model, photos(k % 3)), expected[k % 3])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert came == 120
    assert model.compile(photos()) is not None
    assert model.forward.graphs()


def run(program, *, timeout=60, **variables):
    """What a Python program printed; the process must end well and say nothing else."""
    support = os.pathsep.join([os.fspath(ROOT), os.fspath(ROOT / "tests/support")])
    environment = {**os.environ, "PYTHONPATH": support, "PYTHONFAULTHANDLER": "1", **variables}
    head = "import os, sys, threading, time\nfrom compiled_networks import *\n"
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", head + program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert not done.stderr
    return done.stdout


LEAVES = """
model = Small()
model.compile(photos())
def work():
    while True:
        replayed(model, photos())
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print(replayed(model, photos()).shape)
"""


@pytest.mark.slow
def test_a_process_may_end_while_threads_replay():
    assert run(LEAVES, PYTHONMALLOC="malloc", MALLOC_PERTURB_="165", MALLOC_CHECK_="3") == "(2, 5)\n"
    assert run(LEAVES + "sys.exit(0)") == "(2, 5)\n"


def test_a_process_may_end_with_graphs_in_globals_cycles_and_threads():
    program = """
model = Small()
graph = model.compile(photos())
model.me = model
kept = [replayed(model, photos(s)) for s in range(5)]
ready, hold = threading.Event(), threading.Event()
def work():
    own = model.compile(photos())
    ready.set()
    hold.wait()
threading.Thread(target=work, daemon=True).start()
ready.wait()
print(graph.n_step > 0)
"""
    assert run(program) == "True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_replays_with_graphs_of_its_own():
    program = """
import warnings
warnings.simplefilter("ignore")
model = Small()
model.compile(photos())
expected = eager(model, photos(1)).array
replayed(model, photos(1))
child = os.fork()
good = all(np.allclose(replayed(model, photos(1)).array, expected, rtol=1e-5, atol=1e-5) for _ in range(4))
if child == 0:
    os._exit(0 if good and len(model.graphs()) == 1 else 1)
_, status = os.waitpid(child, 0)
print(good, status)
"""
    assert run(program) == "True 0\n"


def test_results_outlive_the_network_and_its_thread():
    models, kept = [Small()], []

    def work(k):
        models[0].compile(photos())
        kept.append((k, arrays_of(replayed(models[0], photos(k)))))

    in_threads(3, work)
    twin = Small()
    twin.copyparams(models.pop())
    gc.collect()
    for k, arrays in kept:
        np.testing.assert_allclose(arrays[0], eager(twin, photos(k)).array, rtol=1e-5, atol=1e-5)
