"""Every block of code and every command of the README and of docs/ is run here, or says below why it is not."""

import contextlib
import importlib.util
import inspect
import itertools
import os
import re
import shlex
import subprocess
import sys

import pytest
from documentation import PAGES, ROOT, Block, blocks_of, commands_of, is_as_shown
from neighbour import neighbour

from cvzoo.cli.main import main

stand_ins = neighbour(__file__, "stand_ins")

# (page, first line of the block): why it is not run
NOT_RUN = {
    (
        "docs/ARCHITECTURE.md",
        "14  cli                                      the command line",
    ): "a drawing of the rooms, which tests/test_imports_go_down.py holds",
    (
        "docs/weights.md",
        "<home>/weights/<name>/<file>           the file, complete and verified, or absent",
    ): "a drawing",
    (
        "docs/evaluation.md",
        "the difference comes from: float32_thresholds (IoU thresholds are rounded to float32)",
    ): "one of the answers that tests/cli/test_evaluate.py asks for",
    (
        "docs/from_torchvision.md",
        "weights = FasterRCNN_ResNet50_FPN_Weights.DEFAULT",
    ): "a program for torchvision",
    ("docs/clusters.md", "export RAY_AUTH_MODE=token"): "Ray's own commands",
    (
        "docs/clusters.md",
        "cvzoo launch --engine ray --nodes 1:4 --per-node 8 --restarts 20 -- \\",
    ): "a job for a Ray cluster, which tests/distributed/launching/test_ray_engine.py starts",
    ("docs/clusters.md", "#!/bin/bash"): "scripts for Slurm, which are not tested, as the page says",
    ("docs/clusters.md", "apiVersion: ray.io/v1"): "a resource of Kubernetes, which is not tested, as the page says",
    ("docs/studio.md", 'pip install "cvzoo[studio]"'): "a server, which tests/studio starts",
    ("docs/tutorials/studio.md", 'pip install "cvzoo[studio]"'): "a server, which scripts/studio_walk starts",
    ("docs/studio.md", "cvzoo studio open"): "of a running server, which tests/studio starts",
    (
        "docs/studio.md",
        "cvzoo studio user add ada --role annotator      # prints the link",
    ): "of a studio with users, as tests/studio/access has",
    (
        "docs/studio.md",
        "cvzoo studio backup studio-2026-11-23.tar",
    ): "of a studio with data; tests/studio/data copies one",
    (
        "docs/studio.md",
        "cvzoo studio token laptop --scope write > ~/studio-token && chmod 600 ~/studio-token",
    ): "for a running server, which tests/studio/client asks likewise",
    ("docs/studio.md", "import json"): "a program for a running server, which tests/studio/test_app.py asks likewise",
    (
        "docs/studio.md",
        'image = open("image.jpg", "rb").read()',
    ): "a program for a running server, which tests/studio/api asks likewise",
    (
        "docs/studio.md",
        "cvzoo evaluate --model best.safetensors --data voc:FOLDER --split val --json scores.json "
        "--verdicts verdicts.jsonl",
    ): "a model and data of yours; tests/cli writes verdicts",
    ("docs/from_ultralytics.md", 'model = YOLO("yolo11n.pt")'): "a program for ultralytics",
    (
        "docs/graph.md",
        "Detector.forward is not replayed as a graph: values are read in forward, line 41 of detector",
    ): "four messages of four programs, which tests/graph asks for",
    (
        "docs/runs.md",
        "iteration 3 of training has NaN or infinite values:",
    ): "a message of a program that is not on the page, "
    "which tests/training/extensions/test_fail_on_non_number.py asks for",
}
# blocks that take seconds to minutes: large networks, and what needs drawn weights for them
LONG = {
    ("docs/from_torchvision.md", "import cvzoo.links as L"),
    ("docs/from_ultralytics.md", "cvzoo data check yolo:screws"),
    ("README.md", "from cvzoo import links as L"),
    ("README.md", "cvzoo train --recipe retinanet_resnet18_small --data voc:ROOT --out runs/mine"),
    ("docs/export.md", "cvzoo export resnet50_imagenet --format onnx --to resnet50.onnx"),
    ("docs/export.md", "from cvzoo.export import export_onnx"),
    ("docs/graph.md", "import numpy as np"),
    ("docs/graph.md", "ResNet.forward: 57 functions as 57 kernels and 0 functions; made in ... s"),
    ("docs/gpu.md", "import cvzoo.links as L"),
    ("docs/weights.md", "$ cvzoo verify retinanet_text"),
    (
        "docs/tuning.md",
        "cvzoo tune --recipe cifar_resnet20 --data folder:ROOT --out runs/tuned --hours 2 --processes 2 "
        "lr=log:1e-3..1 weight_decay=0,1e-4,1e-3 epochs=27",
    ),
    ("docs/zoo.md", "from cvzoo import links as L"),
    ("docs/zoo.md", 'model = L.VGG16(pretrained_model="imagenet")'),
    ("docs/zoo.md", 'model = L.FasterRCNNFPNResNet50(label_names=("screw", "nut"), pretrained_model="coco")'),
}
# tutorials that train, export or score for seconds
LONG |= {
    block.key
    for name in ("detector", "evaluate", "export", "finetune", "gpus", "train")
    for block in blocks_of(f"docs/tutorials/{name}.md")
}
# what a page needs besides cvzoo; how many GPUs it has
NEEDS = {"docs/tutorials/export.md": "onnxruntime"}
GPUS = {"docs/gpu.md": 1, "docs/tutorials/gpus.md": 2}
# words that are added to a command, so that it takes seconds
SHORTENED = {
    "cvzoo train": ["--epochs", "1", "--size", "96", "--batch-size", "2", "--processes", "1"],
    "cvzoo tune --recipe": ["--trials", "1", "epochs=2", "--processes", "1", "batch_size=2", "processes=0"],
    "cvzoo tune --resume": ["--trials", "1"],
}
# names of large files that would be fetched: a small file stands for them
FETCHED = {"resnet50_imagenet": "resnet50_imagenet.safetensors"}
# options that a machine without a GPU cannot obey
WITHOUT_GPU = {("--device", "gpu:0")}
# scripts that are run as the page says; of others, which tests of their own run, the options are looked at
SHORT_SCRIPTS = {"examples/run_onnx.py"}
SETUP = {"python3 -m venv .venv", ". .venv/bin/activate"}
EVERY = [block for page in PAGES for block in blocks_of(page)]


class Reader:
    """Somebody who does what a page says, in a folder of his own."""

    def __init__(self, page, folder, capsys, namespace):
        self.page, self.folder, self.capsys = page, folder, capsys
        self.namespace = {"__name__": "documentation", **(namespace or {})}
        self.printed = ""

    def follow(self, block: Block):
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), self.namespace)
            self.printed = self.capsys.readouterr().out
        elif block.text.startswith("$ "):
            command, _, shown = block.text[2:].partition("\n")
            self.run(shlex.split(command))
            assert is_as_shown(shown, self.printed), f"the page shows\n{shown}\nand it says\n{self.printed}"
        elif block.language == "toml":
            (self.folder / "mine.toml").write_text(block.text)  # a recipe, which the commands after it may read
            self.run(["cvzoo", "train", "--config", "mine.toml", "--show-config"])
        elif block.language in ("sh", "bash") or block.text.startswith("cvzoo "):
            for words in commands_of(block.text):
                self.run(words)
        else:
            assert is_as_shown(block.text, self.printed), f"the page shows\n{block.text}\nand it says\n{self.printed}"

    def run(self, words):
        while re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if words[0] == "cvzoo":
            self.run_cvzoo(words[1:])
        elif words[0] == "python":
            check_script(self.folder, words[1:])
        elif words[0] == "pip":
            check_extras(words)
        elif " ".join(words) not in SETUP:
            assert os.access(ROOT / words[0], os.X_OK), f"{self.page}: {words[0]} is no command"

    def run_cvzoo(self, words):
        for pair in WITHOUT_GPU:
            if any(two == pair for two in itertools.pairwise(words)):
                at = words.index(pair[0])
                words = words[:at] + words[at + 2 :]
        words = [FETCHED.get(word, word) for word in words]
        words = [*words, *(SHORTENED.get(f"cvzoo {' '.join(words[:2])}") or SHORTENED.get(f"cvzoo {words[0]}", ()))]
        self.capsys.readouterr()
        status = main(words)
        self.printed, err = self.capsys.readouterr()
        complains = words[:2] in (["data", "check"], ["data", "convert"])  # 1: something was found in the data
        assert status in ((0, 1) if complains else (0,)), err


def check_script(folder, words):
    """A script of the repository knows the options that the page gives it; one of the reader's own is his."""
    script = ROOT / words[0]
    if not script.is_file():
        assert words[0] == "train.py"
        return
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    help_wanted = [sys.executable, script, "--help"]
    done = subprocess.run(help_wanted, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    for word in words[1:]:
        assert not word.startswith("-") or word in done.stdout, f"{words[0]} knows no {word}"
    if words[0] in SHORT_SCRIPTS and importlib.util.find_spec("onnxruntime"):
        subprocess.run([sys.executable, ROOT / words[0], *words[1:]], cwd=folder, env=environment, check=True)


def check_extras(words):
    """What is installed is this package, with extras that it has."""
    section = (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.MULTILINE))
    assert words[1] == "install"
    for package in (word for word in words[2:] if not word.startswith("-")):
        match = re.fullmatch(r"(?:cvzoo|\.)(?:\[([\w,]+)\])?", package)
        assert match, f"{package} is not this package"
        assert set(filter(None, (match[1] or "").split(","))) <= extras


@pytest.fixture
def reader(request, tmp_path, monkeypatch, capsys):
    """A function of a page -> its Reader, with what the page takes for granted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")

    def make(page):
        prepare = getattr(stand_ins, page.removeprefix("docs/").removesuffix(".md").replace("/", "_").lower(), None)
        namespace = None
        if prepare is not None:  # some pages need nothing of ../shared, and are not skipped without it
            wants_shared = "shared" in inspect.signature(prepare).parameters
            namespace = prepare(*((request.getfixturevalue("shared"),) if wants_shared else ()), tmp_path)
        return Reader(page, tmp_path, capsys, namespace)

    return make


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(b.key not in {*NOT_RUN, *LONG} for b in blocks_of(page))]
)
def test_what_a_page_says_is_so(page, reader):
    someone = reader(page)
    for block in blocks_of(page):
        if block.key not in NOT_RUN and block.key not in LONG:
            someone.follow(block)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*initialized anew")  # said of weights of other classes, as a page tells
@pytest.mark.filterwarnings("ignore:the (training|validation) set has no labels of")  # of the few images of a test
@pytest.mark.parametrize("page", sorted({page for page, _ in LONG}))
def test_what_takes_long_is_so_too(page, reader, monkeypatch, request):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    someone = reader(page)
    stand_ins.draw_what_would_be_fetched(monkeypatch)
    made_up = request.getfixturevalue("fake_gpu") if page in GPUS else None
    with contextlib.nullcontext() if made_up is None else made_up(devices=GPUS[page]):
        for block in blocks_of(page):
            if block.key not in NOT_RUN:
                someone.follow(block)


def test_the_tables_above_name_blocks_that_there_are():
    keys = {block.key for block in EVERY}
    assert set(NOT_RUN) <= keys
    assert keys >= LONG
    assert not LONG & set(NOT_RUN)
