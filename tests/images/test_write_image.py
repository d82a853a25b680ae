"""Images are written whole or not at all."""

import io
import os

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import ImageError, ShapeError, ValueRangeError
from cvzoo.images import encode_png, list_image_files, read_image, to_pil, write_image

IMG = np.random.default_rng(0).integers(0, 256, (3, 5, 7)).astype(np.float32)


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "a.bmp", "a.b.png"])
def test_what_is_written_comes_back(tmp_path, name):
    assert write_image(IMG, tmp_path / name) == tmp_path / name
    np.testing.assert_array_equal(read_image(tmp_path / name), IMG)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.jpg", "a.jpeg", "a.webp"])
def test_lossy_files_come_back_in_size(tmp_path, name):
    smooth = np.full((3, 16, 24), 100, dtype=np.float32)
    write_image(smooth, tmp_path / name)
    np.testing.assert_allclose(read_image(tmp_path / name), smooth, atol=3)


def test_grey_stays_grey(tmp_path):
    write_image(IMG[:1], tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as pil:
        assert pil.mode == "L"
    np.testing.assert_array_equal(read_image(tmp_path / "a.png", color=False), IMG[:1])


def test_values_are_rounded_and_cut():
    img = np.array([-5, 0.4, 0.6, 254.6, 300], dtype=np.float32).reshape(1, 1, 5)
    assert list(to_pil(img).tobytes()) == [0, 0, 1, 255, 255]


def test_encode_png_gives_a_file():
    np.testing.assert_array_equal(read_image(encode_png(IMG)), IMG)
    assert Image.open(io.BytesIO(encode_png(IMG))).format == "PNG"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    write_image(IMG, path)

    def broken_save(*arguments, **keywords):
        arguments[1].write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Image.Image, "save", broken_save)
    with pytest.raises(KeyboardInterrupt):
        write_image(IMG * 0, path)
    assert os.listdir(tmp_path) == ["a.png"]
    np.testing.assert_array_equal(read_image(path), IMG)


def test_files_can_be_read_as_the_umask_says(tmp_path):
    (tmp_path / "plain").touch()
    write_image(IMG, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["png", "bmp", "ppm"])
def test_a_format_by_name_goes_into_an_open_file_or_under_another_extension(tmp_path, name):
    file = io.BytesIO()
    assert write_image(IMG, file, format=name) is None
    np.testing.assert_array_equal(read_image(file.getvalue()), read_image(encode_png(IMG)))
    write_image(IMG, tmp_path / "a.dat", name)
    assert (tmp_path / "a.dat").read_bytes() == file.getvalue()


def test_the_older_name_of_the_file_means_the_same(tmp_path):
    assert write_image(IMG, path=tmp_path / "a.png") == tmp_path / "a.png"
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), IMG)
    with pytest.raises(ValueRangeError, match="file and path are two names of one argument"):
        write_image(IMG, tmp_path / "b.png", path=tmp_path / "a.png")
    with pytest.raises(ValueRangeError, match="expected: one of them"):
        write_image(IMG)


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ImageError, match=r"\.tiff"):
        write_image(IMG, tmp_path / "a.tiff")
    with pytest.raises(ImageError, match="needs a format"):
        write_image(IMG, io.BytesIO())
    with pytest.raises(ImageError, match="needs a format"):
        write_image(IMG, tmp_path / "a.png", format="tiff")
    with pytest.raises(FileNotFoundError):
        write_image(IMG, tmp_path / "nowhere" / "a.png")
    with pytest.raises(ShapeError, match="transpose"):
        write_image(IMG.transpose(1, 2, 0), tmp_path / "a.png")
    with pytest.raises(ImageError, match="NaN"):
        write_image(IMG * np.nan, tmp_path / "a.png")


def test_list_image_files_sorts_and_leaves_out_what_is_no_photo(tmp_path):
    for name in ("b.JPG", "a.png", "notes.txt", ".hidden.png", "c.jpeg"):
        (tmp_path / name).touch()
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "folder.png" / "d.webp").touch()
    assert [path.name for path in list_image_files(tmp_path)] == ["a.png", "b.JPG", "c.jpeg"]
    assert [path.name for path in list_image_files(tmp_path, recursive=True)][-1] == "d.webp"
    with pytest.raises(NotADirectoryError, match="nowhere"):
        list_image_files(tmp_path / "nowhere")


def test_a_missing_folder_is_named_by_what_was_asked_for(tmp_path):
    path = tmp_path / "none" / "photo.png"
    with pytest.raises(FileNotFoundError) as caught:
        write_image(np.zeros((3, 2, 2), np.float32), path)
    assert caught.value.filename == str(path)
