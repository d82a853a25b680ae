"""The examples run; the one that ships learns."""

import pathlib

import numpy as np
import pytest
from neighbour import module_at

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def load(name):
    return module_at(EXAMPLES / f"{name}.py")


def test_the_digits_are_learnt(capsys):
    read = load("learn_digits").main(n_train=1500, n_epoch=3)
    assert read > 0.85  # guessing reads 0.1
    assert "agree with finite differences" in capsys.readouterr().out


def test_digits_are_drawn_alike_from_one_seed():
    draw = load("learn_digits").draw_digits
    (x, t), (x_again, t_again) = (draw(20, np.random.default_rng(3)) for _ in range(2))
    assert x.shape == (20, 1, 20, 20)
    assert x.dtype == np.float32
    assert x.min() >= 0
    assert x.max() <= 1
    np.testing.assert_array_equal(x, x_again)
    np.testing.assert_array_equal(t, t_again)


@pytest.mark.slow
def test_mnist_is_learnt_in_short(shared, tmp_path, capsys):
    mnist = shared / "data" / "mnist"
    if not mnist.is_dir():
        pytest.skip("needs MNIST in ../shared/data/mnist")
    accuracy = load("train_mnist").main(mnist, out=tmp_path, n_epoch=1, n_units=60)
    assert accuracy > 0.92
    assert "validation/main/accuracy" in capsys.readouterr().out


@pytest.mark.slow
def test_mnist_is_learnt(shared, tmp_path):
    assert load("train_mnist").main(shared / "data" / "mnist", out=tmp_path) >= 0.982


@pytest.mark.slow
@pytest.mark.parametrize("how", ["model", "data"])
def test_two_devices_learn_digits_together(how, shared, tmp_path, fake_gpu):
    if not (shared / "data" / "mnist").is_dir():
        pytest.skip("needs MNIST in ../shared/data/mnist")
    numbers = {"out": tmp_path, "n_epoch": 2, "n_units": 40, "n_train": 1200}
    with fake_gpu(devices=2) as machine:
        accuracy = load("mnist_two_gpus").main(shared / "data" / "mnist", how=how, **numbers)
        used = {each.device for each in machine.recorder if each.kind == "launch"}
    assert used == {0, 1}
    assert accuracy > 0.3  # guessing reads 0.1
    if how == "model":
        alone = load("mnist_two_gpus").main(shared / "data" / "mnist", how=how, devices=("cpu", "cpu"), **numbers)
        assert accuracy == pytest.approx(alone, abs=0.01)


@pytest.mark.slow  # ten seconds
def test_the_language_model_beats_the_frequencies_of_words(tmp_path, capsys):
    ptb = load("ptb")
    rng = np.random.default_rng(0)
    # the noun, a coin thrown in each line of six words, says what the verb will be
    lines = [f"the {'dog' if dog else 'cat'} you see {'barks' if dog else 'purrs'}" for dog in rng.integers(0, 2, 500)]
    texts = [ptb.words_of(lines[:420]), ptb.words_of(lines[420:])]
    perplexity, baseline = ptb.main(texts, out=tmp_path, n_epoch=8, batch_size=8, n_units=16, rate=0.03)
    assert baseline > 5
    assert perplexity < 2 ** (1.5 / 6)  # 2 ** (1 / 6) is the least; who forgets the noun throws two coins
    assert "validation/perplexity" in capsys.readouterr().out


def test_the_language_model_reads_the_documentation():
    train, valid = load("ptb").documentation()
    assert len(train) > 5 * len(valid) > 0
    assert "variable" in train
