import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.class_results import read_class_results

PHOTOS, LABELS = {"a": 0, "b": 1}, {"cat": 0, "dog": 1, "fox": 2}


def read(tmp_path, text):
    path = tmp_path / "r.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_class_results(path)


def test_scores_are_laid_out_and_what_is_not_guessed_is_below_all(tmp_path):
    records = read(tmp_path, "image;prediction;prob;more\na;cat;.25;x\n\na;dog;.5;x\nb;fox;0;x\n")
    np.testing.assert_array_equal(records.probs(PHOTOS, LABELS, (2, 3)), [[0.25, 0.5, -1], [-1, -1, 0]])


def test_without_scores_the_order_counts(tmp_path):
    probs = read(tmp_path, "photo,label\na,dog\nb,fox\na,cat\n").probs(PHOTOS, LABELS, (2, 3))
    assert np.argsort(-probs[0]).tolist() == [1, 0, 2]
    assert probs[1].argmax() == 2


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        (b"photo,label\n\xff,a\n", FileFormatError, "UTF-8"),
        ("", FileFormatError, "no column for the photo"),
        ("photo,label,class\n", FileFormatError, "several columns for the label"),
        ('photo,label\n"a,cat\n', FileFormatError, "line 2"),
        ("photo,label,score\na,cat,x\n", ValueRangeError, "line 2: the score must be"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, text, kind, says):
    with pytest.raises(kind, match=says):
        read(tmp_path, text)
