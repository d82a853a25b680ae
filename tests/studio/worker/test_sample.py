"""The sample data set."""

from cvzoo.cli.main import main
from cvzoo.studio.worker.sample import draw_sample


def test_a_newcomer_is_told_of_no_faults(tmp_path, capsys):
    draw_sample(tmp_path, 80, lambda *_: None)
    assert main(["data", "check", f"coco:{tmp_path}"]) == 0
    assert "no faults were found" in capsys.readouterr().out
