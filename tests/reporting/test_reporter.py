"""Reported values reach whoever listens, under the right name."""

import threading

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors import DtypeError, GraphError, ValueRangeError
from cvzoo.reporting import Reporter, get_current_reporter, report, report_scope


def test_values_go_under_the_observers_name():
    reporter, model = Reporter(), L.Linear(2, 3)
    reporter.add_observer("main", model)
    with reporter:
        report({"loss": 0.5}, model)
        report({"bare": 1})
    assert reporter.observation == {"main/loss": 0.5, "bare": 1}


def test_links_below_have_their_paths():
    model = cvzoo.Sequential(L.Linear(2, 3), cvzoo.Sequential(L.Linear(3, 1)))
    reporter = Reporter()
    reporter.add_observer("main", model)
    reporter.add_observers("main", model.namedlinks(skipself=True))
    with reporter:
        report({"x": 1}, model[1][0])
    assert reporter.observation == {"main/1/0/x": 1}


def test_a_variable_is_kept_without_its_graph():
    reporter = Reporter()
    x = cvzoo.Variable(np.float32([1.0, 2.0]))
    with reporter:
        report({"sum": F.sum(x)})
    assert type(reporter.observation["sum"]) is np.ndarray
    assert reporter.observation["sum"] == 3


def test_nobody_listening_is_no_error():
    report({"loss": 1}, object())


def test_an_observer_without_a_name_is_told():
    with Reporter(), pytest.raises(ValueRangeError, match="this Linear is not registered"):
        report({"loss": 1}, L.Linear(1, 1))


def test_who_asks_for_a_reporter_where_none_is_hears_so():
    with pytest.raises(GraphError, match="no current reporter"):
        get_current_reporter()
    with pytest.raises(GraphError), report_scope({}):
        pass


def test_a_scope_takes_values_aside_and_gives_the_place_back():
    reporter = Reporter()
    with reporter:
        inner = {}
        report({"a": 1})
        with report_scope(inner):
            report({"b": 2})
        report({"c": 3})
    assert reporter.observation == {"a": 1, "c": 3}
    assert inner == {"b": 2}


def test_a_scope_ends_with_an_error_too():
    reporter, outer = Reporter(), {}
    with pytest.raises(DtypeError), reporter.scope(outer), reporter.scope({}):
        raise DtypeError("x")
    with pytest.raises(GraphError):
        get_current_reporter()
    assert reporter.observation is not outer


def test_the_innermost_reporter_is_told():
    outer, inner = Reporter(), Reporter()
    with outer:
        with inner:
            report({"a": 1})
        report({"b": 2})
    assert (outer.observation, inner.observation) == ({"b": 2}, {"a": 1})


def test_threads_have_reporters_of_their_own():
    reporter = Reporter()
    with reporter:
        thread = threading.Thread(target=report, args=({"a": 1},))
        thread.start()
        thread.join()
    assert reporter.observation == {}


def test_an_observer_stays_known_after_others_forgot_it():
    reporter = Reporter()
    for number in range(50):  # without a reference, Python gives the same address to the next one
        reporter.add_observer(str(number), L.Linear(1, 1))
    with reporter, pytest.raises(ValueRangeError):
        report({"x": 1}, L.Linear(1, 1))
