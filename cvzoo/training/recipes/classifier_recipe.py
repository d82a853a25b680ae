"""The training recipes of image classifiers."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

import numpy as np

from cvzoo.datasets.class_splits import ClassSplits, class_splits
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.datasets.soft_label_mix_dataset import SoftLabelMixDataset
from cvzoo.evaluations.evaluators.classification_evaluator import ClassificationEvaluator
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.classifier import Classifier
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.image_transform import PhotoTransform
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.zoo_member import Task
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.multi_scale import at_scales, batch_scales_field
from cvzoo.training.recipes.recipe import MOST_EPOCHS, AbstractRecipe, ClassTable, RecipeModel, Splits
from cvzoo.typing.aliases import Array, Image


def _networks() -> dict[str, Callable[..., AbstractClassifier]]:
    """Name -> constructor of every classifier of the zoo, called with pretrained_model, label_names, preparation."""
    networks: dict[str, Callable[..., AbstractClassifier]] = {
        "resnet18_cifar": functools.partial(ResNet, 18, stem="cifar"),
        "resnet50_cifar": functools.partial(ResNet, 50, stem="cifar"),
    }
    for member in zoo_members():
        if member.task == "classification":
            name = member.name.partition("_imagenet")[0].removesuffix("_cifar10")
            networks.setdefault(name, cast(Callable[..., AbstractClassifier], member.make))
    return dict(sorted(networks.items()))


NETWORKS: Mapping[str, Callable[..., AbstractClassifier]] = MappingProxyType(_networks())


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierNetwork(AbstractConfig):
    """Which classifier of the zoo is trained. Raises ValueRangeError."""

    name: str = config_field(help="name of the network, as `cvzoo models` begins it", group="model")
    insize: int | None = count_field(
        None,
        help="side of the square input, cut from an image whose short side is 8/7 of it; None: the usual one",
        unit="pixels",
        group="preparation",
        at_least=8,
    )

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown network."""
        self.require(self.name in NETWORKS, "name", "a network of `cvzoo train --list`")

    def build(self, pretrained: str | None, label_names: Sequence[str]) -> AbstractClassifier:
        """The network for these classes."""
        make = NETWORKS[self.name]
        model = make(pretrained_model=pretrained, label_names=label_names)
        usual = model.preparation
        if self.insize is None or not isinstance(usual, CenterCrop):
            return model
        # as the weights' images were prepared, but for the size
        changed = dataclasses.replace(usual, crop=self.insize, short=round(self.insize * usual.short / usual.crop))
        return make(pretrained_model=pretrained, label_names=label_names, preparation=changed)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierRecipe(AbstractRecipe):
    """All settings of an image classifier's training."""

    task: ClassVar[Task] = "classification"
    metrics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "accuracy": "validation/main/accuracy",
            "mean_class_accuracy": "validation/main/mean_class_accuracy",
        }
    )
    usage: ClassVar[str] = "probs = model.predict"

    model: ClassifierNetwork = config_field(help="the network", group="model")
    epochs: int = config_field(
        30, help="number of epochs", unit="epochs", group="schedule", at_least=1, at_most=MOST_EPOCHS
    )
    batch_size: int = config_field(32, help="images in a batch", unit="images", group="schedule", at_least=1)
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "nesterov", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    lr: float = config_field(0.02, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(1e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    metric: Literal["accuracy", "mean_class_accuracy"] = config_field(
        "accuracy",
        help="metric that selects the best model: accuracy; or its mean over classes, where classes differ in size",
        group="validation",
    )
    crop_area: tuple[float, float] = config_field(
        (0.25, 1.0),
        help="area of random crops, as fractions of the image's: from, to",
        group="augmentation",
        above=0,
        at_most=1,
    )
    flip: bool = config_field(True, help="whether images are flipped horizontally at random", group="augmentation")
    jitter: float = config_field(0.2, help="strength of the color jitter", group="augmentation", at_least=0)
    mix_up: float = config_field(
        0.0,
        help="mixup: alpha of the ratio's beta distribution, such as 0.2; 0: none. With cut_mix, each for half of the "
        "images",
        group="augmentation",
        at_least=0,
    )
    cut_mix: float = config_field(
        0.0, help="CutMix: alpha of the ratio's beta distribution, such as 1; 0: none", group="augmentation", at_least=0
    )
    plain_epochs: int = config_field(
        5, help="last epochs without mix_up and cut_mix", unit="epochs", group="augmentation", at_least=0
    )
    batch_scales: tuple[float, ...] = batch_scales_field()
    lighting: float = config_field(
        0.0, help="deviation of the PCA color noise, of values in [0, 255]", group="augmentation", at_least=0
    )

    def summary(self) -> str:
        return f"image classifier {self.model.name}"

    def build_model(self, label_names: Sequence[str]) -> AbstractClassifier:
        return self.model.build(self.pretrained, label_names)

    def build_loss(self, model: RecipeModel, splits: Splits) -> Classifier:
        return Classifier(model)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> AbstractSliceableDataset:
        transform = PhotoTransform(
            model.preparation,
            scale_ratio_range=self.crop_area,
            x_flip=self.flip,
            jitter=self.jitter,
            lighting=self.lighting,
        )
        examples: AbstractSliceableDataset = TransformDataset(train, ("img", "label"), transform)
        if self.mix_up or self.cut_mix:
            until = max(self.epochs - self.plain_epochs, 0)
            examples = SoftLabelMixDataset(
                examples, model.n_class, mix_up=self.mix_up, cut_mix=self.cut_mix, until_epoch=until
            )
        return at_scales(examples, model, self.batch_scales, transform.input_size)

    def with_size(self, side: int) -> AbstractRecipe:
        """The side of the network's input."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, insize=side))

    def splits(self) -> ClassSplits:
        return class_splits(self.data)

    def evaluator(self, model: RecipeModel, splits: Splits) -> ClassificationEvaluator:
        iterator = SerialIterator(splits.val, self.batch_size, repeat=False, shuffle=False)
        top = (1, 5) if len(splits.label_names) > 5 else (1,)
        return ClassificationEvaluator(iterator, model, label_names=splits.label_names, top=top)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        img, label = example
        mean, std = model.preparation.mean_and_std()
        probs = np.eye(len(label_names))[label] if np.ndim(label) == 0 else np.asarray(label)
        caption = ", ".join(
            label_names[k] if probs[k] == 1 else f"{label_names[k]} {probs[k]:.2f}" for k in _top(probs)
        )
        return denormalized(img, mean=mean, std=std), caption

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The most probable class, and the true one if it is another."""
        img, label, *_ = example
        (prob,) = model.predict([img])
        predicted = int(prob.argmax())
        truth = "" if predicted == label else f", is {label_names[int(label)]}"
        return img, f"{label_names[predicted]} {prob.max():.2f}{truth}"

    def class_table(self, result: Any, label_names: Sequence[str]) -> ClassTable:
        """The accuracy of each class."""
        counts = np.asarray(result.confusion).sum(axis=1)
        of_classes = zip(label_names, counts, result.class_accuracy)
        rows = [{"name": name, "n_photos": int(n), "accuracy": float(share)} for name, n, share in of_classes]
        return ClassTable(rows, ("accuracy",), "photos")


def _top(probs: Array) -> list[int]:
    """The labels of an example, the most probable first."""
    return [int(k) for k in np.argsort(-probs, kind="stable") if probs[k] > 0]


_TRANSFORMERS = ("convnext", "swin", "vit")


def _recipe(name: str) -> ClassifierRecipe:
    make = NETWORKS[name]
    known = make.keywords.get("pretrained_model") if isinstance(make, functools.partial) else None
    # weights of CIFAR-10 would have seen the images that they are validated on
    pretrained = known if isinstance(known, str) and known.startswith("imagenet") else None
    recipe = ClassifierRecipe(model=ClassifierNetwork(name=name), pretrained=pretrained)
    if name.startswith(_TRANSFORMERS):
        return dataclasses.replace(recipe, optimizer="adamw", lr=1e-4, weight_decay=5e-6)
    return recipe


CLASSIFIER_RECIPES: Mapping[str, ClassifierRecipe] = MappingProxyType({name: _recipe(name) for name in NETWORKS})
