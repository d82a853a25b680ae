"""Marks of tests that need instructions which not every processor has."""

import pytest

from cvzoo.backends.onednn.library import why_no_bf16

needs_bf16 = pytest.mark.skipif(why_no_bf16() is not None, reason=f"no bfloat16: {why_no_bf16()}")
