"""A model's card: where it comes from, what it knows, how it was scored."""

from typing import Any

from cvzoo.reporting.counted import counted
from cvzoo.studio.jobs.command_line import command_line
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.run_record import CONFIG, DATA, RunRecord
from cvzoo.studio.models.found import Model, header_of, sha256_of
from cvzoo.weights.model_header import ModelHeader


def card_of(model: Model) -> dict[str, Any]:
    """facts: [(name, value)]; label_names; thresholds: by preset; scores: [(name, value)]; problem: of the file.

    Thresholds are {nms, score, classes}, classes a list in the order of labels or None.
    """
    if model.member is not None:
        return _of_member(model.member)
    assert model.path is not None
    header = header_of(model.path)
    facts, scores = [], []
    if model.run is not None:
        facts += _of_run(model.run)
        if model.run.best_key is not None and model.run.best is not None:
            scores.append((f"{model.run.best_key}, epoch {model.run.best_epoch or 0:g}", f"{model.run.best:.4g}"))
    if isinstance(header, ModelHeader):
        facts.append(("Network", header.architecture))
    facts.append(("File", str(model.path)))
    try:
        facts.append(("SHA-256", sha256_of(model.path)))
    except OSError:
        return {"facts": facts, "label_names": None, "thresholds": {}, "scores": [], "problem": "the file is gone"}
    facts.append(("Licence", "yours; weights and data that it was trained from have theirs"))
    is_known = isinstance(header, ModelHeader)
    return {
        "facts": facts,
        "label_names": list(header.label_names) if isinstance(header, ModelHeader) and header.label_names else None,
        "thresholds": _thresholds(header) if isinstance(header, ModelHeader) else {},
        "scores": scores,
        "problem": None if is_known or header is None else header,
    }


def _of_run(run: RunRecord) -> list[tuple[str, str]]:
    config = read_json_object(run.folder / CONFIG)
    data = read_json_object(run.folder / DATA)
    facts = [("Recipe", run.recipe), ("Data", run.data), ("Command", command_line(config, run.folder, absolute=True))]
    recipe = config.get("recipe")
    if isinstance(recipe, dict) and recipe.get("pretrained"):
        facts.append(("Started from", str(recipe["pretrained"])[:200]))
    for part in ("train", "val"):
        tree = data.get(part)
        if isinstance(tree, dict):
            n_example, files = tree.get("n_example"), tree.get("files")
            images = counted(n_example, "image") if isinstance(n_example, int) and n_example else ""
            hash_ = f"SHA-256 {files}" if files else ""
            facts.append((f"Data, {part}", ", ".join(each for each in (images, hash_) if each)))
    return [(name, value) for name, value in facts if value]


def _of_member(member: dict[str, Any]) -> dict[str, Any]:
    words = {"Task": "task", "Trained on": "data", "Licence": "licence", "Licence of the data": "data_licence"}
    facts = [(name, str(member.get(key) or "")) for name, key in words.items()]
    facts += [("Source", str(member.get("source") or ""))]
    preprocessing = member.get("preprocessing")
    if isinstance(preprocessing, dict):
        preprocessing = ", ".join(f"{key} {value}" for key, value in preprocessing.items())
    facts += [("Preprocessing", str(preprocessing or "")), ("On this machine", "yes" if member["here"] else "no")]
    for file in member["files"]:
        facts += [("File", str(file["url"])), ("SHA-256", str(file["sha256"] or "not published"))]
    scores = [(str(name), str(value)) for name, value in dict(member["score"]).items()]
    return {
        "facts": [(name, value) for name, value in facts if value],
        "label_names": None,
        "thresholds": {},
        "scores": scores,
        "problem": None,
    }


def _thresholds(header: ModelHeader) -> dict[str, dict[str, Any]]:
    presets = header.settings.get("presets")
    found: dict[str, dict[str, Any]] = {}
    for name, row in presets.items() if isinstance(presets, dict) else ():
        if isinstance(row, list) and len(row) in (2, 3) and all(isinstance(each, int | float) for each in row[:2]):
            of_classes = row[2] if len(row) == 3 and isinstance(row[2], list) else None
            found[str(name)] = {"nms": row[0], "score": row[1], "classes": of_classes}
    return found
