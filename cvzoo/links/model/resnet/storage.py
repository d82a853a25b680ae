"""How an image is prepared, for the headers of files."""

from typing import Any

from cvzoo.links.model.resnet.resnet import ResNet


def resnet_preprocessing(model: ResNet) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    how = model.preparation.to_json()
    if model.stem == "cifar":
        del how["short"]
        how["stretched_to"] = how.pop("crop")
    return {"channels": "RGB", **how}
