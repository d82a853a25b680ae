import types

import numpy as np

from cvzoo.images import read_image
from cvzoo.iterators import SerialIterator
from cvzoo.training.extensions import DetectionVisReport


class Detector:
    def predict(self, imgs):
        bbox = np.array([[2, 2, 12, 12]], np.float32)
        return [bbox] * len(imgs), [np.zeros(1, np.int32)] * len(imgs), [np.ones(1, np.float32)] * len(imgs)


def examples():
    img = np.full((3, 20, 30), 128, np.float32)
    return [(img, np.zeros((0, 4), np.float32), np.zeros(0, np.int32))] * 3


def trainer(folder):
    return types.SimpleNamespace(updater=types.SimpleNamespace(iteration=7), out=folder)


def test_a_picture_an_example_with_the_truth_above_the_prediction(tmp_path):
    iterator = SerialIterator(examples(), 2, repeat=False, shuffle=False)
    report = DetectionVisReport(iterator, Detector(), label_names=("cat",))
    assert report.available()
    for _ in range(2):  # the iterator is gone through anew
        report(trainer(tmp_path))
        names = [f"detection_iter=7_idx={i}.jpg" for i in range(3)]
        assert sorted(path.name for path in tmp_path.iterdir()) == names
    picture = read_image(tmp_path / names[0])
    assert picture.shape == (3, 44, 32)
    truth, prediction = picture[:, 1:21, 1:31], picture[:, 23:43, 1:31]
    assert np.ptp(truth) < 40
    assert np.ptp(prediction) > 100


def test_an_iterator_without_reset_is_copied(tmp_path):
    class Batches:
        def __init__(self):
            self.left = [examples()[:1]]

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left, batch = [], self.left[0]
            return batch

    report = DetectionVisReport(Batches(), Detector(), filename="{index}.png")
    report(trainer(tmp_path))
    assert (tmp_path / "0.png").is_file()
    assert len(report.iterator.left) == 1
