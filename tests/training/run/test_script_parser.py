import pytest

from cvzoo.training import script_parser


def test_a_script_gets_its_four_arguments():
    given = vars(script_parser("Trains.", data="voc:ROOT").parse_args(["--data", "voc:x", "--out", "run", "--smoke"]))
    assert given == {"data": "voc:x", "out": "run", "resume": False, "smoke": True}
    given = vars(script_parser("Trains.").parse_args(["--out", "run"]))
    assert given == {"out": "run", "resume": False, "smoke": False}


def test_the_run_s_folder_is_required(capsys):
    with pytest.raises(SystemExit):
        script_parser("Trains.").parse_args([])
    assert "--out" in capsys.readouterr().err
