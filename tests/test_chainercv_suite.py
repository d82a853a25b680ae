"""The shim of names by which ChainerCV's tests are run, on a test as ChainerCV writes them."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
TESTS = """
import unittest
import numpy as np
from chainer import testing
from chainercv.utils import bbox_iou, testing as ours
from chainercv.links.model.fpn.mask_utils import mask_to_segm
from chainercv.transforms import scale

@testing.parameterize(*testing.product({"size": [2, 4]}))
class TestScale(unittest.TestCase):
    def test_size(self):
        self.assertEqual(scale(np.zeros((3, 4, 8)), self.size).shape, (3, self.size, 2 * self.size))

    def test_scale_no_resize(self):
        img = np.zeros((3, 4, 8))
        self.assertIs(scale(img, 4), img)

    def test_wrong(self):
        self.assertEqual(bbox_iou(np.ones((1, 4)), np.ones((1, 4))).shape, (2, 2))
"""
GONE = "from chainercv.links.model.fpn import rpn_loss\n"


@pytest.mark.slow
def test_tests_pass_fail_or_differ_as_decided(tmp_path):
    (tmp_path / "test_scale.py").write_text(TESTS)
    (tmp_path / "test_rpn.py").write_text(GONE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])}
    command = [sys.executable, "-m", "chainercv_suite", str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "2 failed, 2 passed, 1 skipped, 2 xfailed" in run.stdout, run.stdout + run.stderr
    assert "2  transforms give a new array" in run.stdout
    assert "1  a name that has another in cvzoo" in run.stdout
    assert run.returncode == 1
