"""The states of all random generators that training may use."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.config.randomness import get_random_state, set_random_state


def random_states() -> dict[str, Any]:
    """The states of cvzoo's generator, of NumPy's global one, and of Python's."""
    version, numbers, gauss = random.getstate()
    kind, keys, position, has_gauss, cached = np.random.get_state()
    return {
        "cvzoo": get_random_state(),
        "numpy": {
            "kind": kind,
            "keys": np.array(keys),
            "position": int(position),
            "has_gauss": int(has_gauss),
            "gauss": float(cached),
        },
        "python": {"version": version, "numbers": np.array(numbers, np.uint32), "gauss": gauss},
    }


def load_random_states(state: Mapping[str, Any]) -> None:
    """Restores the states of all generators."""
    set_random_state(state["cvzoo"])
    old = state["numpy"]
    np.random.set_state((old["kind"], old["keys"], old["position"], old["has_gauss"], old["gauss"]))
    python = state["python"]
    random.setstate((python["version"], tuple(int(n) for n in python["numbers"]), python["gauss"]))
