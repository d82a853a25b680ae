"""A run's page while it goes on, and when it ends."""

import pytest

from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.json_lines_report import JSONLinesReport
from cvzoo.training.extensions.run_report import RunReport


def act(iteration):
    report({"main/loss": 1 / iteration})


def test_the_page_says_how_the_run_ended(counting_trainer, tmp_path):
    seen = []
    trainer = counting_trainer([JSONLinesReport(), RunReport()], act)
    trainer.extend(
        lambda trainer: seen.append((tmp_path / "report.html").read_text()), trigger=(1, "epoch"), priority=-600
    )
    trainer.run()
    assert "running, at epoch 1" in seen[0]
    assert "finished" in (tmp_path / "report.html").read_text()


ENDS = [(ValueError("<bad>\nmore"), "failed: ValueError: &lt;bad&gt;"), (KeyboardInterrupt(), "stopped by Ctrl-C")]


@pytest.mark.parametrize(("error", "says"), ENDS)
def test_errors_and_interrupts_are_told_apart(counting_trainer, tmp_path, error, says):
    def end(trainer):
        raise error

    trainer = counting_trainer([JSONLinesReport(), RunReport()], act)
    trainer.extend(end, trigger=(1, "epoch"))
    with pytest.raises(type(error)):
        trainer.run()
    assert says in (tmp_path / "report.html").read_text()
