import pytest

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.jobs.answer_of import answer_of


def test_the_answer_is_what_the_process_prints():
    assert answer_of(["json.tool"], failed="no echo", timeout=60, question={"é": [1]}) == {"é": [1]}


def test_a_process_that_fails_is_an_error_with_its_last_line():
    with pytest.raises(ConfigError, match=r"^no echo, .*nowhere"):
        answer_of(["json.tool", "/nowhere"], failed="no echo", timeout=60)


def test_a_process_that_takes_too_long_is_an_error():
    with pytest.raises(ConfigError, match=r"^no echo within 0 s"):
        answer_of(["json.tool"], failed="no echo", timeout=0)
