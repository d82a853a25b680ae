import logging
import threading

from cvzoo.files.file_lock import file_lock


def test_who_comes_second_says_so_and_waits(tmp_path):
    said, entered = threading.Event(), threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: str(tmp_path) in record.getMessage() and said.set()
    logger = logging.getLogger("cvzoo.weights")

    def second():
        with file_lock(tmp_path / "lock"):
            entered.set()

    thread = threading.Thread(target=second)
    logger.addHandler(handler)
    try:
        with file_lock(tmp_path / "lock"):
            thread.start()
            assert said.wait(60)
            assert not entered.is_set()
        assert entered.wait(60)
    finally:
        thread.join()
        logger.removeHandler(handler)


def test_who_comes_first_says_nothing(tmp_path, caplog):
    for _ in range(2):
        with caplog.at_level(logging.WARNING, "cvzoo.weights"), file_lock(tmp_path / "lock"):
            pass
    assert caplog.text == ""
