"""A parameter's own numbers stand in front of the optimizer's."""

import copy
import pickle

import numpy as np
import pytest

from cvzoo.errors import DtypeError, ValueRangeError
from cvzoo.optimizers import Hyperparameter


def test_own_numbers_come_first_and_can_be_given_up():
    parent = Hyperparameter({"lr": 0.1, "momentum": 0.9})
    own = Hyperparameter(parent=parent)
    own.lr = 0.2
    parent.momentum = 0.5
    assert own.get_dict() == {"lr": 0.2, "momentum": 0.5}
    assert repr(own) == "Hyperparameter(lr=0.2, momentum=0.5)"
    del own.lr
    assert own.lr == 0.1


def test_lr_is_another_name_of_alpha_where_there_is_no_lr():
    parent = Hyperparameter({"alpha": 0.1})
    own = Hyperparameter(parent=parent)
    own.lr = 0.2
    assert (own.alpha, own.lr, own.own) == (0.2, 0.2, {"alpha": 0.2})
    del own.lr
    assert own.lr == parent.lr == 0.1
    both = Hyperparameter({"alpha": 0.99, "lr": 0.1})
    both.lr = 0.3
    assert (both.alpha, both.lr) == (0.99, 0.3)


def test_numbers_become_pythons():
    own = Hyperparameter({"lr": np.float32(0.5), "flag": np.bool_(True), "n": np.int64(3)})
    assert [type(value) for value in own.get_dict().values()] == [float, bool, int]


@pytest.mark.parametrize("value", ["0.1", None, 1j, np.ones(1), [0.1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(DtypeError, match="lr"):
        Hyperparameter({"lr": 0.1}).lr = value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueRangeError, match="lr"):
        Hyperparameter({"lr": value})


def test_a_misspelt_name_is_refused_with_those_there_are():
    own = Hyperparameter({"momentum": 0.9})
    with pytest.raises(ValueRangeError, match="momentum"):
        own.momentun = 0.5
    with pytest.raises(AttributeError, match="momentum"):
        _ = own.momentun
    with pytest.raises(AttributeError):
        del own.momentum


def test_copies_have_numbers_of_their_own_and_parents_of_their_own():
    parent = Hyperparameter({"lr": 0.1, "momentum": 0.9})
    child = Hyperparameter(parent=parent)
    child.lr = 0.2
    twin_parent, twin = copy.deepcopy((parent, child))
    twin_parent.momentum = 0.5
    assert (twin.lr, twin.momentum) == (0.2, 0.5)
    assert (child.lr, child.momentum) == (0.2, 0.9)
    again = pickle.loads(pickle.dumps(child))
    assert again.get_dict() == child.get_dict()


@pytest.mark.parametrize(
    ("values", "rate"),
    [({"lr": 0.5, "alpha": 0.99}, "lr"), ({"alpha": 0.5}, "alpha"), ({"alpha": 1.0, "eta": 0.5}, "eta")],
)
def test_a_factor_multiplies_the_learning_rate_that_counts(values, rate):
    parent = Hyperparameter(values)
    own = Hyperparameter(parent=parent)
    own.lr_factor = 0.1
    assert own.get_dict() == {**values, rate: 0.5 * 0.1}
    setattr(parent, rate, 2.0)
    assert own.get_dict()[rate] == 2.0 * 0.1
    del own.lr_factor
    assert own.get_dict() == parent.get_dict()


def test_a_factor_wants_a_learning_rate_and_is_of_one_parameter():
    with pytest.raises(ValueRangeError, match="no learning rate"):
        Hyperparameter(parent=Hyperparameter({"rho": 0.9})).lr_factor = 2
    with pytest.raises(ValueRangeError, match="lr_factor"):
        Hyperparameter({"lr": 0.9}).lr_factor = 2
