"""What a job is: a command line of `cvzoo` and the file that it makes."""

import dataclasses
import pathlib
import sys
from typing import Any, ClassVar, Literal, TypeAlias

from cvzoo.studio.jobs.run_state import run_state

Form: TypeAlias = Literal["onnx", "int8"]
PredictionForm: TypeAlias = Literal["jsonl", "csv", "coco"]


@dataclasses.dataclass(frozen=True)
class TrainSpec:
    """A training. recipe: of `cvzoo train --list`; data: a specification; settings: name -> text, those that differ

    continues: the job with a copy of whose folder it begins, to resume it with these settings; "" of others
    """

    recipe: str
    data: str
    settings: tuple[tuple[str, str], ...] = ()
    continues: str = ""
    kind: ClassVar[str] = "train"

    @property
    def title(self) -> str:
        """The name of a job that was given none."""
        return self.recipe

    def words(self, run: pathlib.Path) -> list[str]:
        """The arguments of `cvzoo` that start the run in the folder, or resume the one that is there."""
        if (run / "config.json").is_file():
            return ["train", "--resume", str(run), *(self._settings() if self.continues else [])]
        return ["train", "--recipe", self.recipe, f"--data={self.data}", "--out", str(run), *self._settings()]

    def trial_words(self) -> list[str]:
        """The arguments of `cvzoo` that try it, and leave no files."""
        return ["train", "--recipe", self.recipe, f"--data={self.data}", "--try", *self._settings()]

    def _settings(self) -> list[str]:
        return [f"{name}={value}" for name, value in self.settings]

    def is_done(self, run: pathlib.Path) -> bool:
        """Whether the run says that it finished, and its best model is there."""
        return (run / "best.safetensors").is_file() and run_state(run).state == "finished"

    def to_json(self) -> dict[str, Any]:
        """For job.json and the database."""
        tree = {"kind": self.kind, "recipe": self.recipe, "data": self.data, "settings": dict(self.settings)}
        return tree | ({"continues": self.continues} if self.continues else {})

    def changed(self, settings: dict[str, str]) -> "TrainSpec":
        """The same training but for these settings, and from the start."""
        return TrainSpec(self.recipe, self.data, tuple((dict(self.settings) | settings).items()))

    def differences(self, origin: "TrainSpec") -> list[tuple[str, str | None, str | None]]:
        """(name, the origin's value, this one's) of what differs; None: the recipe's own value."""
        before, after = ({"recipe": each.recipe, "data": each.data, **dict(each.settings)} for each in (origin, self))
        names = dict.fromkeys([*before, *after])
        return [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]


@dataclasses.dataclass(frozen=True)
class EvaluateSpec:
    """An evaluation of a model.

    model: a file, or a name of the zoo; source: the key of the model's page; sha256: of the file, "" of the zoo's
    data, split: as of `cvzoo evaluate`; split "": none is named
    find_thresholds: whether the thresholds of classes with the best F1 are found, and saved with the model
    precision: those with the highest recall at this precision instead, None without
    """

    model: str
    source: str
    sha256: str
    data: str
    split: str = ""
    find_thresholds: bool = False
    precision: float | None = None
    kind: ClassVar[str] = "evaluate"

    @property
    def title(self) -> str:
        """The name of a job that was given none."""
        return f"{self.model} on {self.data}"

    def words(self, run: pathlib.Path) -> list[str]:
        """The arguments of `cvzoo` that write the scores into the folder."""
        split = [f"--split={self.split}"] if self.split else []
        rule = "f1" if self.precision is None else f"precision={self.precision:g}"
        found = ["--find-thresholds", rule, "--save-model", str(run / DEPLOYED)] if self.find_thresholds else []
        files = {"--json": SCORES, "--report": "report.html", "--verdicts": VERDICTS}
        written = [word for option, name in files.items() for word in (option, str(run / name))]
        return ["evaluate", f"--model={self.model}", f"--data={self.data}", *split, *written, *found]

    def is_done(self, run: pathlib.Path) -> bool:
        """Whether the scores are there."""
        return (run / SCORES).is_file()

    def to_json(self) -> dict[str, Any]:
        """For job.json and the database."""
        return {"kind": self.kind, **dataclasses.asdict(self)}


@dataclasses.dataclass(frozen=True)
class ExportSpec:
    """A model in another form. model, source, sha256: as of EvaluateSpec; form: "onnx" or "int8"

    images: files on which int8 is calibrated
    """

    model: str
    source: str
    sha256: str
    form: Form
    images: tuple[str, ...] = ()
    kind: ClassVar[str] = "export"

    @property
    def title(self) -> str:
        """The name of a job that was given none."""
        return f"{self.model} as {self.form}"

    def words(self, run: pathlib.Path) -> list[str]:
        """The arguments of `cvzoo` that write the model into the folder."""
        out = str(run / MADE[self.form])
        if self.form == "onnx":
            return ["export", "--format", "onnx", "--to", out, "--", self.model]
        return ["quantize", f"--model={self.model}", "--to", out, "--", *self.images]

    def is_done(self, run: pathlib.Path) -> bool:
        """Whether the model is there."""
        return (run / MADE[self.form]).is_file()

    def to_json(self) -> dict[str, Any]:
        """For job.json and the database."""
        return {"kind": self.kind, **dataclasses.asdict(self), "images": list(self.images)}


@dataclasses.dataclass(frozen=True)
class PredictSpec:
    """Predictions of many images. model, source, sha256: as of EvaluateSpec

    images: a file, or a folder, on this machine; form: of PREDICTED
    """

    model: str
    source: str
    sha256: str
    images: str
    form: PredictionForm
    kind: ClassVar[str] = "predict"

    @property
    def title(self) -> str:
        """The name of a job that was given none."""
        return f"{self.model} on {self.images}"

    def words(self, run: pathlib.Path) -> list[str]:
        """The arguments of `cvzoo` that write the predictions into the folder."""
        lines = ["--json-lines", str(run / PREDICTED["jsonl"])]
        out = ["--out", str(run / PREDICTED_FOLDER), "--no-draw", "--save-format", self.form]
        form = [] if self.form == "jsonl" else out
        return ["predict", f"--model={self.model}", *lines, *form, "--", self.images]

    def is_done(self, run: pathlib.Path) -> bool:
        """Whether the predictions are there."""
        return (run / PREDICTED[self.form]).is_file()

    def to_json(self) -> dict[str, Any]:
        """For job.json and the database."""
        return {"kind": self.kind, **dataclasses.asdict(self)}


@dataclasses.dataclass(frozen=True)
class ProposeSpec:
    """Predictions of images of a data set, which become proposals. model, source, sha256: as of EvaluateSpec

    dataset: its identifier; task: "boxes" or "classes"; score: the least one; the images are links in TO_PREDICT
    """

    model: str
    source: str
    sha256: str
    dataset: str
    task: str
    score: float
    kind: ClassVar[str] = "propose"

    @property
    def title(self) -> str:
        """The name of a job that was given none."""
        return f"proposals of {self.model}"

    def words(self, run: pathlib.Path) -> list[str]:
        """The arguments of `cvzoo` that write the predictions into the folder."""
        lines = ["--json-lines", str(run / PREDICTED["jsonl"])]
        least = (
            ["--score-thresh", f"{self.score:g}"] if self.task == "boxes" else []
        )  # of a class it is looked at later
        return ["predict", f"--model={self.model}", *lines, *least, "--", str(run / TO_PREDICT)]

    def is_done(self, run: pathlib.Path) -> bool:
        """Whether the predictions are there."""
        return (run / PREDICTED["jsonl"]).is_file()

    def to_json(self) -> dict[str, Any]:
        """For job.json and the database."""
        return {"kind": self.kind, **dataclasses.asdict(self)}


TO_PREDICT = "to_predict"  # the folder of links to images, of a job that proposes
PREDICTED_FOLDER = "predicted"
PREDICTED: dict[PredictionForm, str] = {
    "jsonl": "predictions.jsonl",
    "csv": f"{PREDICTED_FOLDER}/results.csv",
    "coco": f"{PREDICTED_FOLDER}/coco/annotations/instances_all.json",
}
SCORES, VERDICTS, DEPLOYED = "scores.json", "verdicts.jsonl", "deploy.safetensors"
MADE: dict[Form, str] = {"onnx": "model.onnx", "int8": "int8.safetensors"}
Spec: TypeAlias = TrainSpec | EvaluateSpec | ExportSpec | PredictSpec | ProposeSpec


def argv_of(spec: Spec, run: pathlib.Path) -> list[str]:
    """The command, by this Python."""
    return [sys.executable, "-m", "cvzoo", *spec.words(run)]


def spec_from_json(tree: dict[str, Any]) -> Spec | None:
    """The specification of `to_json`; None if it is malformed or of a newer version."""
    try:
        if tree.get("kind", "train") == "train":
            settings = tuple((str(k), str(v)) for k, v in tree["settings"].items())
            return TrainSpec(str(tree["recipe"]), str(tree["data"]), settings, str(tree.get("continues", "")))
        common = {key: str(tree[key]) for key in ("model", "source", "sha256")}
        if tree["kind"] == "evaluate":
            more = {key: str(tree[key]) for key in ("data", "split")}
            precision = None if tree.get("precision") is None else float(tree["precision"])
            find = tree["find_thresholds"] is True
            return EvaluateSpec(**common, **more, find_thresholds=find, precision=precision)
        if tree["kind"] == "export" and tree["form"] in MADE:
            return ExportSpec(**common, form=tree["form"], images=tuple(map(str, tree["images"])))
        if tree["kind"] == "predict" and tree["form"] in PREDICTED:
            return PredictSpec(**common, images=str(tree["images"]), form=tree["form"])
        if tree["kind"] == "propose":
            more = {key: str(tree[key]) for key in ("dataset", "task")}
            return ProposeSpec(**common, **more, score=float(tree["score"]))
    except (KeyError, TypeError, AttributeError, ValueError):
        return None
    return None
