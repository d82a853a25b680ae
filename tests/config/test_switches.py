"""Switches: set for a block, in one thread."""

import threading

import pytest

import cvzoo.config as config
from cvzoo.config.switches import force_backprop_mode, no_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import ConfigError


def test_a_switch_is_set_for_the_block_only():
    assert config.train is True
    with using_config("train", False):
        assert config.train is False
        with using_config("train", True):
            assert config.train is True
        assert config.train is False
    assert config.train is True


def test_a_switch_is_put_back_after_an_exception():
    with pytest.raises(KeyError), using_config("train", False):
        raise KeyError
    assert switches.train is True


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("trian", True, "no switch 'trian'"),  # the error lists those there are
        ("train", 1, "is a switch"),
        ("train", None, "is a switch"),
        ("dtype", "float16", "no such value"),
        ("backend", "torch", "no such value"),
    ],
)
def test_wrong_names_and_values_are_refused(name, value, says):
    with pytest.raises(ConfigError, match=says), using_config(name, value):
        pytest.fail("the block must not be entered")


def test_assigning_is_refused_and_says_how_instead():
    with pytest.raises(ConfigError, match="using_config\\('train', False\\)"):
        config.train = False
    assert config.train is True


def test_an_unknown_switch_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no switch 'speed'"):
        _ = config.speed
    assert not hasattr(config, "speed")


def test_threads_have_switches_of_their_own():
    seen = []
    with using_config("train", False), no_backprop_mode():
        thread = threading.Thread(target=lambda: seen.append((switches.train, switches.enable_backprop)))
        thread.start()
        thread.join()
    assert seen == [(True, True)]


def test_backprop_modes_nest():
    with no_backprop_mode():
        assert not switches.enable_backprop
        with force_backprop_mode():
            assert switches.enable_backprop
        assert not switches.enable_backprop


def test_a_mode_can_be_a_decorator():
    @no_backprop_mode()
    def ask():
        return switches.enable_backprop

    assert [ask(), ask(), switches.enable_backprop] == [False, False, True]


def test_a_block_that_ends_after_the_one_around_it_changes_nothing():
    outer, inner = no_backprop_mode(), force_backprop_mode()
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)  # Ctrl-C came while the inner one ended
    assert switches.enable_backprop
    inner.__exit__(None, None, None)  # its traceback is forgotten
    assert switches.enable_backprop


def test_a_block_that_is_never_ended_ends_when_it_is_forgotten():
    block = no_backprop_mode()
    block.__enter__()
    assert not switches.enable_backprop
    del block
    assert switches.enable_backprop


def test_a_block_that_is_forgotten_within_a_later_one_leaves_that_ones_value():
    forgotten = no_backprop_mode()
    forgotten.__enter__()
    with using_config("enable_backprop", False):
        del forgotten
        assert not switches.enable_backprop
        with force_backprop_mode():
            assert switches.enable_backprop
    assert switches.enable_backprop
