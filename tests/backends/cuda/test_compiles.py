"""Every file of kernels compiles for every GPU from Turing to Blackwell, and keeps its values in registers."""

import pathlib

import pytest
from cuda_compilers import ARCHITECTURES, ptxas_report, spills

import cvzoo.backends.gpu_kernels
from cvzoo.backends.gpu_kernels import source

KERNELS = pathlib.Path(cvzoo.backends.gpu_kernels.__file__).parent / "kernels"
FAMILIES = sorted(path.stem for path in KERNELS.glob("*.cu") if path.stem != "foundation")


@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_compile_for_hopper_without_spilling(family, tmp_path):
    assert spills(ptxas_report(source(family), 90, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_compile_for_every_architecture_without_spilling(family, architecture, tmp_path):
    assert spills(ptxas_report(source(family), architecture, tmp_path)) == []


def test_a_spill_would_be_seen(tmp_path):
    text = """
    extern "C" __global__ void f(float *x, int k) {
        float y[100];
        for (int i = 0; i < 100; i++) y[i] = x[i];
        x[k] = y[k];
    }"""
    assert [row[0] for row in spills(ptxas_report(text, 90, tmp_path))] == ["f"]
