"""What the examples of a batch have in common, in every worker and after a resume."""

import numpy as np
import pytest

import cvzoo.transforms as T
from cvzoo import config
from cvzoo.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator


class Context:
    """Example i: (epoch, a draw of the batch's generator, a draw of the example's)."""

    def __init__(self, n=7):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return config.example_epoch(), config.batch_generator().random(), config.random_generator().random()


class MultiScale(Context):
    """Images of a size that is drawn for each batch."""

    transform = T.PerBatch(T.OneOf([T.Letterbox((side, side)) for side in range(8, 40, 4)]))

    def __getitem__(self, index):
        return self.transform(T.Sample(img=np.zeros((3, 10 + index, 20), np.float32))).img.shape[1:]


def batches(make, dataset, n=6, state=None, **more):
    with make(dataset, 3, seed=4, **more) as iterator:
        if state is not None:
            iterator.load_state(state)
        found = [iterator.next() for _ in range(n)]
        return found, iterator.state()


def test_a_batch_shares_a_generator_and_each_batch_has_its_own():
    found, _ = batches(SerialIterator, Context())
    assert [len({draw for _, draw, _ in batch}) for batch in found] == [1] * 6
    assert len({batch[0][1] for batch in found}) == 6
    assert len({draw for batch in found for *_, draw in batch}) == 18
    assert [epoch for batch in found for epoch, *_ in batch] == [0] * 7 + [1] * 7 + [2] * 4


@pytest.mark.parametrize("dataset", [Context(), MultiScale()], ids=["draws", "sizes"])
def test_all_iterators_and_resumed_ones_agree(dataset):
    expected, _ = batches(SerialIterator, dataset)
    assert batches(MultithreadIterator, dataset, n_threads=3)[0] == expected
    assert batches(MultiprocessIterator, dataset, n_processes=2, start_method="fork")[0] == expected
    first, state = batches(SerialIterator, dataset, n=2)
    assert first + batches(SerialIterator, dataset, n=4, state=state)[0] == expected


def test_multi_scale_training_has_one_size_in_a_batch_and_several_in_a_run():
    found, _ = batches(SerialIterator, MultiScale(), n=20)
    assert all(len(set(batch)) == 1 for batch in found)
    assert len({batch[0] for batch in found}) > 4


def test_without_an_iterator_the_threads_generator_is_used():
    assert config.batch_generator() is config.random_generator()
    assert config.example_epoch() == 0
    rng = np.random.default_rng(1)
    sizes = {MultiScale.transform(T.Sample(img=np.zeros((3, 9, 9), np.float32)), rng=rng).size for _ in range(20)}
    assert len(sizes) > 3
