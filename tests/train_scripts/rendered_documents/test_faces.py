import numpy as np
import pytest
from rendered_documents.face import MatrixFace, OutlineFace
from rendered_documents.fonts import fonts_of, installed_fonts
from rendered_documents.matrix_glyphs import COLUMNS, ROWS, matrix_glyphs
from rendered_documents.scripts import SCRIPTS
from rendered_documents.words import phrase

FACES = [MatrixFace(), MatrixFace(weight=0.4, height=1.3), MatrixFace(is_dotted=True), OutlineFace()]


def test_the_matrix_has_every_sign_of_ascii_and_no_two_alike():
    glyphs = matrix_glyphs()
    assert set(glyphs) == {chr(code) for code in range(33, 127)}
    assert all(np.shape(dots) == (ROWS, COLUMNS) and np.any(dots) for dots in glyphs.values())
    assert len(set(glyphs.values())) == len(glyphs)


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
@pytest.mark.parametrize("size", [9, 13.7, 40])
def test_ink_is_about_as_wide_and_high_as_told(face, size):
    ink, top, _ = face.draw("HOME 24.50", size)
    assert ink.dtype == np.uint8
    x = np.flatnonzero(ink.max(axis=0) > 60)
    assert abs((x[-1] - x[0]) - face.width("HOME 24.50", size)) < 0.25 * size + 2
    y = np.flatnonzero(ink.max(axis=1) > 60) + top
    assert 0.5 * size < y[-1] + 1 - y[0] < 1.05 * size
    assert abs(y[-1] + 1) <= max(2, 0.1 * size)  # capitals stand on the base line
    wide, _, _ = face.draw("HOME 24.50", size, 1.5)
    assert abs(wide.shape[1] - 1.5 * ink.shape[1]) <= 2


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
def test_a_face_knows_what_it_does_not_hold(face):
    assert face.holds("Total: 12.50")
    assert not face.holds("\u4e2d")
    assert not face.holds("a\U000f1234")


def test_every_face_names_its_licence_and_families_are_complete():
    fonts = installed_fonts()
    assert len(fonts.matrix) == 3
    assert fonts.plain
    for face in fonts.faces():
        assert face.name
        assert face.licence
    rng = np.random.default_rng(0)
    assert fonts.by_lot(rng, matrix=1.0) in fonts.matrix[0] + fonts.matrix[1] + fonts.matrix[2]
    assert not fonts_of(()).by_lot(rng, hand=1.0).is_mono


@pytest.mark.parametrize("script", ["latin", *SCRIPTS])
def test_phrases_are_of_their_script(script):
    text = phrase(np.random.default_rng(1), 50, script)
    assert len(text.split()) == 50
    if script != "latin":
        assert set("".join(char for char in text if char.isalpha())) <= set(SCRIPTS[script].letters)
