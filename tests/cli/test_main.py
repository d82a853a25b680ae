"""The command's door: help, versions, verbs, exit statuses, and how little is imported for them."""

import subprocess
import sys
import warnings

import pytest

import cvzoo
from cvzoo.cli import doctor
from cvzoo.errors.exceptions import CvzooError


def test_help_and_version(run):
    status, printed, _ = run("--help")
    assert status == 0
    for verb in ("predict", "evaluate", "models", "doctor"):
        assert verb in printed
    assert run("--version") == (0, f"cvzoo {cvzoo.__version__}\n", "")


def test_no_words_and_help_are_help(run):
    told = run("--help")
    assert run() == run("help") == told
    assert run("help", "doctor") == run("doctor", "--help")


@pytest.mark.parametrize(
    ("words", "says", "prog"),
    [
        (("predic", "x.jpg"), "did you mean predict?", "cvzoo"),
        (("predict", "x.jpg", "--modle", "y"), "did you mean --model?", "cvzoo predict"),
        (("predict", "x.jpg", "--model=y", "--bathc-size=3"), "did you mean --batch-size?", "cvzoo predict"),
        (("data", "check", "x", "--repot", "y"), "did you mean --report?", "cvzoo data check"),
        (("models", "--task", "detect"), "did you mean detection?", "cvzoo models"),
        (("tune", "--pretrained", "none", "lr=0.1,0.2"), "did you mean pretrained=none?", "cvzoo tune"),
        (("tune", "--batch-size=3"), "did you mean batch_size=3?", "cvzoo tune"),
        (("evaluate", "a.safetensors", "--data", "voc:x"), "did you mean --model a.safetensors?", "cvzoo evaluate"),
        (("tune", "--epochs"), "did you mean epochs=VALUE?", "cvzoo tune"),
    ],
)
def test_a_misspelt_word_is_in_the_first_line_and_gets_a_suggestion(run, words, says, prog):
    status, _, errors = run(*words)
    assert status == 2
    first, *rest = errors.splitlines()
    assert first.startswith(f"{prog}: error: ")
    assert [line.strip() for line in rest] == [says, f"try:      {prog} --help"]


def test_too_little_memory_is_an_error_of_one_line(run, monkeypatch):
    def fail(args):
        raise MemoryError("Unable to allocate 8.00 EiB")

    monkeypatch.setattr("cvzoo.cli.info.run", fail)
    status, _, errors = run("info", "x")
    assert status == 2
    assert errors.splitlines()[0] == "cvzoo info: error: out of memory, Unable to allocate 8.00 EiB"


def test_a_word_like_no_other_gets_none(run):
    for words in (("fly",), ("doctor", "--warp=9")):
        status, _, errors = run(*words)
        assert status == 2
        assert "did you mean" not in errors


@pytest.mark.parametrize("verb", ["predict", "evaluate", "models", "doctor"])
def test_every_verb_has_help(run, verb):
    status, printed, _ = run(verb, "--help")
    assert status == 0
    assert f"cvzoo {verb}" in printed


@pytest.mark.parametrize(
    ("verb", "terms"),
    [
        ("train", ("learning rate", "checkpoint", "epochs")),
        ("predict", ("inference", "confidence score", "non-maximum suppression", "semantic segmentation")),
        ("evaluate", ("confidence score", "semantic segmentation", "mean IoU")),
        ("export", ("inference", "non-maximum suppression", "raw outputs")),
        ("quantize", ("calibration", "int8")),
        ("convert", ("checkpoint",)),
    ],
)
def test_help_has_the_terms_that_users_search_for(run, verb, terms):
    _, printed, _ = run(verb, "--help")
    text = " ".join(printed.split()).replace("- ", "-")
    assert [term for term in terms if term not in text] == []


def test_wrong_words_end_with_2(run):
    status, _, errors = run("fly")
    assert status == 2
    assert "fly" in errors
    assert run("predict", "--no-such-option", "x.jpg")[0] == 2


def test_warnings_are_a_line_on_standard_error(run, monkeypatch):
    monkeypatch.setattr(doctor, "run", lambda args: warnings.warn("the disk\nis full", UserWarning, stacklevel=1) or 0)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        before = warnings.showwarning
        assert run("doctor") == (0, "", "cvzoo doctor: the disk is full\n")
        assert warnings.showwarning is before


def test_import_and_help_load_nothing_heavy():
    code = (
        "import sys, cvzoo; from cvzoo.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'PIL', 'msgspec', 'cvzoo.links', 'cvzoo.functions') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_python_m_cvzoo_is_the_command():
    done = subprocess.run([sys.executable, "-m", "cvzoo", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"cvzoo {cvzoo.__version__}\n"


HOSTILE = "\x1b]0;title\x07 \x9b31m \u202e"


@pytest.mark.parametrize(
    "error", [CvzooError(f"404 {HOSTILE}", hint="two\nlines"), FileNotFoundError(2, "absent", HOSTILE)]
)
def test_no_error_and_no_warning_commands_the_terminal(run, monkeypatch, error):
    def fail(args):
        warnings.warn(f"a warning {HOSTILE}", UserWarning, stacklevel=1)
        raise error

    monkeypatch.setattr(doctor, "run", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        status, printed, errors = run("doctor")
    assert (status, printed) == (2, "")
    assert all(line.isprintable() for line in errors.split("\n"))
    assert errors.count(r"\x1b]0;title\x07 \x9b31m \u202e") == 2


def test_words_of_a_command_line_are_quoted_without_what_commands_the_terminal(run):
    for words in ((HOSTILE,), ("doctor", f"--{HOSTILE}"), ("predict", "a.jpg", "--device", HOSTILE)):
        status, _, errors = run(*words)
        assert status == 2
        assert all(line.isprintable() for line in errors.split("\n"))
