"""The example on MNIST, in short."""

import pathlib

import pytest
from neighbour import module_at

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "singa_mnist.py"


@pytest.mark.slow
def test_digits_are_learnt_alike_with_and_without_the_graph(shared, capsys):
    mnist = shared / "data" / "mnist"
    if not mnist.is_dir():
        pytest.skip("needs MNIST in ../shared/data/mnist")
    read = [module_at(EXAMPLE).main(mnist, n_epoch=1, n_train=1200, n_test=300, graph=graph) for graph in (True, False)]
    assert read[0] == pytest.approx(read[1], abs=0.005)
    assert read[0] > 0.5  # guessing reads 0.1
    assert "epoch 1: loss" in capsys.readouterr().out
