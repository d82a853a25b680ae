"""The sweep's inner process: draws the case that a line of standard input names, computes it, answers with a line.

Everything that oneDNN writes lies between marks that are looked at after each call, and holds something else before
each repetition: NaN, zeros, a pattern. So what is written beyond an array or the scratch memory is seen even where no
number is wrong, and so is a result that depends on what lay there before.
"""

import hashlib
import json
import os
import sys
import zlib

import convolutions
import maps
import numpy as np
from cases import Case, Check

from cvzoo.backends.onednn.library import library
from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.onednn.primitives import Primitive, implementation, local

KINDS = {
    "convolution": convolutions.convolution,
    "matrices": convolutions.matrices,
    "eight bits": convolutions.eight_bits,
    "bfloat16": convolutions.bfloat16,
    "pooling": maps.pooling,
    "batch normalization": maps.batch_normalization,
    "layer normalization": maps.layer_normalization,
    "response normalization": maps.response_normalization,
    "functions": maps.functions,
    "softmax": maps.softmaxes,
    "resizing": maps.resizing,
    "moving": maps.moving,
}
_FILLS = (0xFF, 0x00, 0x5A)
_MARGIN, _MARK = 4096, 0xA7


class Guards:
    """Memory with a marked margin on both sides, in place of the pool's and of the scratch memory."""

    def __init__(self) -> None:
        self.fill = 0
        self.blocks: list[tuple[np.ndarray, int, int]] = []
        self.scratch: tuple[np.ndarray, int, int] | None = None
        self.kernels: set[str] = set()

    def allocate(self, nbytes: int) -> tuple[np.ndarray, int, int]:
        """The memory, where the middle begins, and its length."""
        memory = np.full(nbytes + 2 * _MARGIN + 64, _MARK, np.uint8)
        start = _MARGIN + -(memory.ctypes.data + _MARGIN) % 64
        memory[start : start + nbytes] = self.fill
        return memory, start, nbytes

    def take(self, shape, strides, dtype, nbytes: int) -> np.ndarray:
        """As Pool.take."""
        block = self.allocate(nbytes)
        self.blocks.append(block)
        return np.ndarray(shape, dtype, block[0], block[1], strides)

    def reserve(self, size: int) -> None:
        """As the scratch memory's, but never larger than what was asked for."""
        if self.scratch is None or size > self.scratch[2]:
            self.scratch = self.allocate(size)
            local.scratch, local.scratch_address = self.scratch[0], self.scratch[0].ctypes.data + self.scratch[1]

    def begin(self, fill: int) -> None:
        """Before a call: other bytes in the memory to come and in the scratch memory."""
        self.fill, self.blocks = fill, []
        if self.scratch is not None:
            memory, start, nbytes = self.scratch
            memory[start : start + nbytes] = fill

    def broken(self) -> str | None:
        """Which margin was written to."""
        for name, blocks in (("scratch memory", [self.scratch] if self.scratch else []), ("an array", self.blocks)):
            for memory, start, nbytes in blocks:
                if (memory[:start] != _MARK).any() or (memory[start + nbytes :] != _MARK).any():
                    return name
        return None

    def forget(self) -> None:
        """After a case: no primitive and no scratch memory of another one."""
        local.young, local.old, self.scratch, self.blocks = {}, {}, None, []
        local.scratch, local.scratch_address = np.empty(0, np.uint8), 0

    def install(self) -> None:
        """From now on all memory of this process's kernels is guarded."""
        if not local.ready:
            local.start()
        pool.take, local.reserve = self.take, self.reserve
        make, kernels = Primitive.__init__, self.kernels

        def named(primitive, descriptor, slots):
            kernels.add(implementation(descriptor))
            make(primitive, descriptor, slots)

        Primitive.__init__ = named


def _as_tuple(found) -> tuple[np.ndarray, ...]:
    return found if isinstance(found, tuple) else (found,)


def _compare(check: Check, results: tuple[np.ndarray, ...]) -> tuple[float, str | None]:
    """The largest error as a share of what is allowed, and what is wrong."""
    worst = 0.0
    for k, (y, (expected, allowed)) in enumerate(zip(results, check.expected)):
        if y.shape != expected.shape:
            return np.inf, f"result {k} has the shape {y.shape}, not {expected.shape}"
        error = np.abs(y.astype(np.float64) - expected)
        bad = ~(error <= allowed + 1e-37)
        if bad.any():
            place = tuple(int(n) for n in np.argwhere(bad)[0])
            text = f"result {k}: {int(bad.sum())} of {y.size} wrong, at {place} {y[place]!r} for {expected[place]!r}"
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = float(np.nan_to_num(np.max(error / np.maximum(allowed, 1e-37)), nan=np.inf))
            return ratio, text
        if np.any(allowed):
            share = error / np.maximum(allowed, 1e-37)
            worst = max(worst, float(share.max(initial=0.0, where=np.broadcast_to(allowed, error.shape) > 0)))
    return worst, None


def repeat(check: Check, guards: Guards) -> tuple[str | None, str | None, float, bytes]:
    """A call in other memory each time: what kind of failure there was, in which words, the largest error, the bits."""
    worst, first = 0.0, b""
    for k, fill in enumerate(_FILLS):
        guards.begin(fill)
        results = _as_tuple(check.run())
        bits = b"".join(np.ascontiguousarray(y).tobytes() for y in results)
        if where := guards.broken():
            return "beyond memory", f"beyond {where}", worst, bits
        ratio, why = _compare(check, results)
        worst = max(worst, ratio)
        if why:
            return "wrong", why, worst, bits
        if k and bits != first:
            return "other bits", "in a repetition", worst, bits
        first = bits
    return None, None, worst, first


def compute(case: Case, guards: Guards) -> dict:
    """What a case's calls gave: failures by kind, the worst error, a digest of all bits."""
    failures: list[dict] = []
    digest, worst = hashlib.sha256(), 0.0
    before = [a.tobytes() for a in case.inputs]
    for check in case.checks:
        try:
            what, why, ratio, bits = repeat(check, guards)
        except Exception as error:
            what, why, ratio, bits = "raised", f"{type(error).__name__}: {error}", 0.0, b""
        if any(a.tobytes() != same for a, same in zip(case.inputs, before)):
            what, why = "input changed", "an input was written to"
        worst = max(worst, ratio)
        digest.update(bits)
        if what:
            failures.append({"what": what, "call": check.name, "why": why})
            guards.forget()
    answer = {"words": case.words, "checks": len(case.checks), "worst": worst, "failures": failures}
    return answer | {"digest": digest.hexdigest()[:16]}


def draw(seed: int, kind: str, number: int) -> Case:
    """The case of this number, the same wherever it is drawn."""
    return KINDS[kind](np.random.default_rng([seed, zlib.crc32(kind.encode()), number]))


def main() -> None:
    """Answer each line `kind<TAB>number` until there are no more."""
    seed, guards = int(sys.argv[1]), Guards()
    guards.install()
    out = os.fdopen(os.dup(1), "w")
    print(
        json.dumps({"isa": library().isa, "version": library().version, "threads": local.threads}), file=out, flush=True
    )
    for line in sys.stdin:
        kind, number = line.rstrip("\n").split("\t")
        guards.kernels.clear()
        answer = compute(draw(seed, kind, int(number)), guards)
        guards.forget()
        print(json.dumps(answer | {"kernels": sorted(guards.kernels)}), file=out, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
