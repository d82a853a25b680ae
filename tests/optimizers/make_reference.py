"""Makes reference.npz: 20 steps of each optimizer in float64, by torch where it has it, else by the paper's formula.

python tests/optimizers/make_reference.py (needs torch; made with torch 2.15.0). The gradient of step t is
cos(3 p + t + index of the parameter) times the scale of the parameter, so that it depends on where the steps led.
"""

import pathlib

import numpy as np
import torch

SHAPES = {"W": (3, 4), "b": (3,), "scale": ()}
SCALES = {"W": 1.0, "b": 0.1, "scale": 3.0}
LRS = [0.1] * 8 + [0.03] * 12  # a schedule: what a change of the rate does is part of the formula
DECAY = 0.02


def start():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape) for name, shape in SHAPES.items()}


def gradient(name, p, t):
    return SCALES[name] * np.cos(3 * p + t + list(SHAPES).index(name))


def by_torch(make, key="lr"):
    params = {name: torch.tensor(value, requires_grad=True) for name, value in start().items()}
    optimizer = make(list(params.values()))
    for t, lr in enumerate(LRS):
        if key is not None:
            optimizer.param_groups[0][key] = lr
        for name, p in params.items():
            p.grad = torch.tensor(np.asarray(gradient(name, p.detach().numpy(), t)))
        optimizer.step()
    return {name: p.detach().numpy() for name, p in params.items()}


def by_formula(step):
    params, memory = start(), {name: {} for name in SHAPES}
    for t, lr in enumerate(LRS):
        for name in params:
            params[name] = step(params[name], gradient(name, params[name], t), memory[name], t + 1, lr)
    return params


def lars(w, g, memory, t, lr):
    """You, Gitman and Ginsburg 2017, algorithm 1."""
    local = 0.02 * np.linalg.norm(w) / (np.linalg.norm(g) + DECAY * np.linalg.norm(w))
    memory["v"] = 0.9 * memory.get("v", 0) + lr * local * (g + DECAY * w)
    return w - memory["v"]


def lamb(x, g, memory, t, lr):
    """You et al. 2020, algorithm 2, phi the identity."""
    memory["m"] = 0.9 * memory.get("m", 0) + 0.1 * g
    memory["v"] = 0.99 * memory.get("v", 0) + 0.01 * g * g
    r = memory["m"] / (1 - 0.9**t) / (np.sqrt(memory["v"] / (1 - 0.99**t)) + 1e-6)
    u = r + DECAY * x
    return x - lr * np.linalg.norm(x) / np.linalg.norm(u) * u


def rmsprop_inside(x, g, memory, t, lr):
    memory["ms"] = 0.9 * memory.get("ms", 0) + 0.1 * g * g
    return x - lr * g / np.sqrt(memory["ms"] + 1e-3)


def adamw_paper(x, g, memory, t, eta):
    """Loshchilov and Hutter 2019, algorithm 2: the schedule multiplies both."""
    memory["m"] = 0.9 * memory.get("m", 0) + 0.1 * g
    memory["v"] = 0.99 * memory.get("v", 0) + 0.01 * g * g
    step = 0.3 * memory["m"] / (1 - 0.9**t) / (np.sqrt(memory["v"] / (1 - 0.99**t)) + 1e-3)
    return x - eta * (step + DECAY * x)


def main():
    optim = torch.optim
    betas = {"betas": (0.9, 0.99)}
    cases = {
        "SGD": by_torch(lambda p: optim.SGD(p)),
        "SGD_WeightDecay": by_torch(lambda p: optim.SGD(p, weight_decay=DECAY)),
        "MomentumSGD": by_torch(lambda p: optim.SGD(p, momentum=0.9)),
        "NesterovAG": by_torch(lambda p: optim.SGD(p, momentum=0.9, nesterov=True)),
        "AdaGrad": by_torch(lambda p: optim.Adagrad(p, eps=1e-3)),
        "AdaDelta": by_torch(lambda p: optim.Adadelta(p, lr=1.0, rho=0.9, eps=1e-2), key=None),
        "RMSprop": by_torch(lambda p: optim.RMSprop(p, alpha=0.9, eps=1e-3)),
        "RMSprop_inside": by_formula(rmsprop_inside),
        "Adam": by_torch(lambda p: optim.Adam(p, eps=1e-3, **betas)),
        "AdamW": by_torch(lambda p: optim.AdamW(p, eps=1e-3, weight_decay=DECAY, **betas)),
        "AdamW_eta": by_formula(adamw_paper),
        "AMSGrad": by_torch(lambda p: optim.Adam(p, eps=1e-3, amsgrad=True, **betas)),
        "LARS": by_formula(lars),
        "LAMB": by_formula(lamb),
    }
    arrays = {f"start/{name}": value for name, value in start().items()}
    arrays |= {f"{case}/{name}": value for case, values in cases.items() for name, value in values.items()}
    np.savez(pathlib.Path(__file__).with_name("reference.npz"), **arrays)


if __name__ == "__main__":
    main()
