"""Public names come when they are used, and only what they need comes with them."""

import pickle
import subprocess
import sys

import pytest

from cvzoo.cli.verbs import summaries
from cvzoo.errors.exceptions import ReplacedNameError
from cvzoo.lazy_imports.on_demand import homes_in

COUNT = "\nimport sys; print(sum(name.split('.')[0] == 'cvzoo' for name in sys.modules))"


def modules_after(statement):
    """How many files of cvzoo a fresh interpreter has imported after the statement."""
    return int(subprocess.run([sys.executable, "-c", statement + COUNT], capture_output=True, check=True).stdout)


@pytest.mark.parametrize(
    ("statement", "most"),
    [
        ("import cvzoo", 3),
        ("import cvzoo.links", 10),
        ("from cvzoo.geometry import nms", 60),
        ("from cvzoo import Link", 87),
        ("from cvzoo.links import SSD300", 238),
    ],
)
def test_a_name_imports_little_besides_itself(statement, most):
    assert modules_after(statement) <= most


@pytest.mark.parametrize("verb", summaries())
def test_the_help_of_a_verb_imports_no_kernels_and_no_models(verb):
    program = "import contextlib, os; from cvzoo.cli.main import main\nwith open(os.devnull, 'w') as nowhere, "
    program += f"contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):\n main(['{verb}', '--help'])\n"
    assert modules_after(program) <= 40


def test_predict_with_a_model_of_its_own_files_imports_no_other_models():
    program = "import sys, cvzoo.cli.predict; assert 'cvzoo.links.model.families' not in sys.modules\n"
    assert modules_after(program) <= 340


def test_a_name_is_the_function_and_not_the_file_of_its_name():
    program = "import cvzoo.geometry.nms, cvzoo.geometry as g; assert callable(g.nms) and g.nms is g.nms"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_part_of_a_package_is_a_module():
    program = "from cvzoo import training; assert training.extensions.__name__ == 'cvzoo.training.extensions'"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_files_and_folders_of_a_package_are_its_attributes_before_anybody_imported_them():
    program = "import cvzoo; cvzoo.optimizers.hooks.WeightDecay, cvzoo.weights.formats.caffe, cvzoo.links.connection"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_an_attribute_error():
    import cvzoo.geometry

    with pytest.raises(AttributeError, match=r"module 'cvzoo\.geometry' has no attribute 'boxes'"):
        _ = cvzoo.geometry.boxes


@pytest.mark.parametrize(
    "statement", ["from cvzoo.utils import download_model", "import cvzoo.utils\ncvzoo.utils.download_model"]
)
def test_a_name_that_has_another_here_is_an_error_that_says_which(statement):
    with pytest.raises(
        ReplacedNameError, match=r"cvzoo\.utils has no download_model: use cvzoo\.weights\.fetch_weights"
    ):
        exec(statement, {})


def test_a_package_is_pickled_by_its_name_for_the_processes_of_joblib_and_others():
    import cvzoo.geometry

    assert pickle.loads(pickle.dumps(cvzoo.geometry)) is cvzoo.geometry


def test_names_are_read_from_the_block_for_type_checkers():
    source = "import os\nif TYPE_CHECKING:\n from p.room import part\n from p.room.file import (\n  a,\n  b)\n"
    assert homes_in(source, "p.room") == {
        "part": ("p.room.part", None),
        "a": ("p.room.file", "a"),
        "b": ("p.room.file", "b"),
    }


def test_slow_packages_are_imported_when_they_are_used():
    program = """if True:
        import sys
        from cvzoo.links import SSD300
        import cvzoo.graph.draw, cvzoo.images.read_image, cvzoo.images.read_video, cvzoo.training.extensions.plot_report
        import cvzoo.transforms.color_jitter, cvzoo.visualizations.vis_semantic_segmentation, cvzoo.weights.download
        found = {"cv2", "matplotlib", "requests"} & {name.split(".")[0] for name in sys.modules}
        assert not found, found
    """
    subprocess.run([sys.executable, "-c", program], check=True)
