import pytest

from cvzoo.cli.main import main
from cvzoo.images.read_image import read_image


def test_rendered_documents_have_a_contact_sheet(tmp_path, capsys):
    out = tmp_path / "sheet.png"
    assert main(["data", "show", "rendered:5,seed=3", str(out), "-n", "3", "--side", "120", "--quiet"]) == 0
    assert "3 of 5 photos" in capsys.readouterr().out
    assert read_image(out).shape[0] == 3


@pytest.mark.parametrize("spec", ["rendered:", "rendered:0", "rendered:x", "rendered:3,seed=x", "rendered:3,sed=1"])
def test_what_is_no_number_of_documents_is_told(spec, tmp_path, capsys):
    assert main(["data", "show", spec, str(tmp_path / "sheet.png")]) != 0
    assert "rendered:N" in capsys.readouterr().err


def test_classes_of_rendered_documents_cannot_be_chosen(tmp_path, capsys):
    assert main(["data", "show", "rendered:3", str(tmp_path / "sheet.png"), "--classes", "text"]) != 0
    assert "one class" in capsys.readouterr().err
