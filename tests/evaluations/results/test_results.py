import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import spellings
from cvzoo.evaluations.results.csv_results import read_csv_results
from cvzoo.evaluations.results.voc_results import read_voc_results, voc_results_files


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "photo,label,score,y_min,x_min,y_max,x_max\na.jpg,cat,0.5,1,2,11,22\n",
        "image;class;confidence;ymin;xmin;ymax;xmax;more\na.jpg;cat;0.5;1;2;11;22;?\n",
        "\ufeffFILE_NAME\tName\tSCORE\tx\ty\twidth\theight\r\n\r\na.jpg\tcat\t0.5\t2\t1\t20\t10\r\n",  # a spreadsheet's
        'x1,y1,x2,y2,score,image_id,category_id\n2,1,22,11,0.5,"a.jpg",cat\n',
    ],
)
def test_csv_columns_are_known_by_their_names(tmp_path, text):
    found = read_csv_results(write(tmp_path / "r.csv", text))
    assert (found.image, found.label, found.score.tolist()) == (["a.jpg"], ["cat"], [0.5])
    assert found.bbox.tolist() == [[1, 2, 11, 22]]


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("", FileFormatError, "no column for the photo"),
        ("a.jpg,cat,0.5,1,2,3,4\n", FileFormatError, "first line that names the columns"),
        ("photo,label,score,y_min,x_min\n", FileFormatError, "no columns for the box"),
        ("photo,image,label,score,y_min,x_min,y_max,x_max\n", FileFormatError, "several columns for the photo"),
        ("photo,label,score,y_min,x_min,y_max,x_max\na,b,0.5,1,2,3\n", ValueRangeError, "r.csv, line 2"),
        ("photo,label,score,y_min,x_min,y_max,x_max\na,b,high,1,2,3,4\n", ValueRangeError, "line 2: score"),
        ("photo,label,score,y_min,x_min,y_max,x_max\n\na,b,nan,1,2,3,4\n", ValueRangeError, "line 3"),
        ("photo,label,score,y_min,x_min,y_max,x_max\na,b,0.1,1,2,3,inf\n", ValueRangeError, "finite"),
        ("photo,label,score,y_min,x_min,y_max,x_max\na,b,0.1,5,2,3,4\n", ValueRangeError, "ends before it begins"),
        ("photo,label,score,x,y,w,h\na,b,0.1,5,2,-3,4\n", ValueRangeError, "ends before it begins"),
    ],
)
def test_what_makes_no_sense_in_a_csv_is_named(tmp_path, text, error, says):
    with pytest.raises(error, match=says):
        read_csv_results(write(tmp_path / "r.csv", text))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "r.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="UTF-8"):
        read_csv_results(tmp_path / "r.csv")


def test_voc_files_count_pixels_from_one_and_hold_the_last(tmp_path):
    write(tmp_path / "comp4_det_test_cat.txt", "000004 0.9 1 1 10 20\n000012 0.25 3.5 4 5 6\n")
    write(tmp_path / "comp4_det_test_potted_plant.txt", "\n000004 1e-3 2 2 2 2\n")
    write(tmp_path / "notes.txt", "hello")
    found = read_voc_results(voc_results_files(tmp_path))
    assert found.label == ["cat", "cat", "potted_plant"]
    assert found.image == ["000004", "000012", "000004"]
    assert found.score.tolist() == [0.9, 0.25, 0.001]
    assert found.bbox.tolist() == [[0, 0, 20, 10], [3, 2.5, 6, 5], [1, 1, 2, 2]]


@pytest.mark.parametrize(
    ("line", "says"),
    [("000004 0.9 1 1 10", "SCORE X_MIN"), ("000004 0.9 1 1 ten 20", "ten"), ("000004 nan 1 1 2 2", "finite")],
)
def test_a_bad_line_of_a_voc_file_is_named(tmp_path, line, says):
    path = write(tmp_path / "comp3_det_val_cat.txt", f"000001 0.9 1 1 2 2\n{line}\n")
    with pytest.raises(ValueRangeError, match=says) as caught:
        read_voc_results([path])
    assert "line 2" in str(caught.value)


def test_a_file_whose_name_tells_no_class_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no class in its name"):
        read_voc_results([write(tmp_path / "found.txt", "")])
    with pytest.raises(FileFormatError, match="no results"):
        voc_results_files(tmp_path)


def test_photos_go_by_file_name_stem_or_number():
    known = spellings(["train/a.jpg", "train/000012.jpg", "val/a.jpg"], [7, 12, 9])
    assert known["train/a.jpg"] == 7
    assert known["000012"] == known["000012.jpg"] == known["12"] == 12
    assert "a" not in known  # two photos are called so
    assert known["9"] == 9


def test_records_get_cocos_ids_and_sides(tmp_path):
    text = "photo,label,score,y_min,x_min,y_max,x_max\nb.jpg,cat,0.5,1,2,11,22\n7,3,0.25,0,0,1,1\n"
    dt = read_csv_results(write(tmp_path / "r.csv", text)).to_coco({"b.jpg": 8, "7": 7}, {"cat": 1, "3": 3})
    assert dt.image_id.tolist() == [8, 7]
    assert dt.category_id.tolist() == [1, 3]
    np.testing.assert_array_equal(dt.bbox[0], [2, 1, 20, 10])


@pytest.mark.parametrize(("row", "what"), [("c.jpg,cat", "photo"), ("b.jpg,cta", "class")])
def test_an_unknown_photo_or_class_is_named_with_the_nearest(tmp_path, row, what):
    text = f"photo,label,score,y_min,x_min,y_max,x_max\nb.jpg,cat,0.5,1,2,11,22\n{row},0.25,0,0,1,1\n"
    found = read_csv_results(write(tmp_path / "r.csv", text))
    with pytest.raises(ValueRangeError, match=f"line 3: the ground truth has no {what}") as caught:
        found.to_coco({"b.jpg": 8}, {"cat": 1})
    assert "did you mean" in str(caught.value)
