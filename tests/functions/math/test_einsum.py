"""Products over named axes are NumPy's."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

RANDOM = np.random.default_rng(0)
A, B, SQUARE = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(4, 5, 3)), RANDOM.normal(size=(3, 3, 2))

CASES = {
    "ijk,klj->il": (A, B),
    "ijk,klj": (A, B),
    "ijk -> kij": (A,),
    "ijk": (A,),
    "ij->": (A[0],),
    "i,j,k->kij": (A[0, :, 0], A[0, 0], A[:, 0, 0]),
    "ij,ij->ij": (A[0], A[0]),  # nothing is summed
    "ij,jk->ik": (A[0], A[0].T),
    "ij,kl->i": (A[0], A[1]),  # sums of each
    "iij->j": (SQUARE,),  # a diagonal
    "iij->ij": (SQUARE,),
    "ii": (SQUARE[..., 0],),  # a trace
    "...k,klj->l...": (A, B),
    "...ij,...jk->...ik": (A, RANDOM.normal(size=(1, 4, 2))),  # axes of size 1 broadcast
    "b...,b...->b...": (A, A[:, :1]),
    ",i->i": (np.array(2.0), A[0, 0]),
}


@pytest.mark.parametrize("subscripts", CASES)
def test_sums_of_products_are_numpys(subscripts, backend):
    operands = CASES[subscripts]
    np.testing.assert_allclose(F.einsum(subscripts, *operands).array, np.einsum(subscripts, *operands), atol=1e-12)


@pytest.mark.parametrize("axes", [0, 1, ((1, 2), (2, 0)), (-1, 0), ((), ())], ids=str)
def test_tensordot_is_numpys(axes):
    np.testing.assert_allclose(F.tensordot(A, B, axes).array, np.tensordot(A, B, axes), atol=1e-12)


BAD = {
    "too few operands": (lambda: F.einsum("ij,jk", A[0]), ValueRangeError, "2 groups of letters for 1 operands"),
    "too few letters": (lambda: F.einsum("ij->i", A), ValueRangeError, "'ij' does not name the axes"),
    "too many letters": (lambda: F.einsum("ijkl->i", A), ValueRangeError, "does not name the axes"),
    "a digit": (lambda: F.einsum("i1k->i", A), ValueRangeError, "does not name the axes"),
    "an unknown result": (lambda: F.einsum("ijk->l", A), ValueRangeError, "must be those of operands"),
    "two sizes": (lambda: F.einsum("ij,ij->i", A[0], A[0].T), ShapeError, "has two sizes"),
    "no text": (lambda: F.einsum(A, [0, 1]), DtypeError, "subscripts must be a text"),
    "too many axes": (lambda: F.tensordot(A[0], B, 3), ShapeError, "do not have 3 axes"),
    "sizes that differ": (lambda: F.tensordot(A, B, 2), ShapeError, "paired axes have two sizes"),
    "three lists": (lambda: F.tensordot(A, B, (1, 2, 3)), DtypeError, "axes must be a number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_say_what_was_wrong(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()
