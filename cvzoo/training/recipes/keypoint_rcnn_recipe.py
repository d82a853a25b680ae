"""The training recipe of Keypoint R-CNN."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from cvzoo.datasets.keypoint_splits import KeypointSplits, keypoint_splits, mirrored_points
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.parameters import MEAN_OKS_SIGMA, COCOParameters
from cvzoo.evaluations.evaluators.keypoint_coco_evaluator import KeypointCOCOEvaluator
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.model.config import config_field
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionSampling
from cvzoo.links.model.keypoint_rcnn.augmentation import KeypointRCNNTransform
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadConfig
from cvzoo.links.model.keypoint_rcnn.loss import KeypointRCNNFPNLoss
from cvzoo.links.model.keypoint_rcnn.weights import COCO_POINT_NAMES
from cvzoo.links.model.zoo_member import Task
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.detection_recipe import DRAWN_SCORE, AbstractPyramidRecipe
from cvzoo.training.recipes.faster_rcnn_fpn_recipe import SMALL, proposal_anchors, region_lr_field, regions_field
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.typing.aliases import Array, Image
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_point import draw_point


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeypointRCNNRecipe(AbstractPyramidRecipe):
    """All settings of the training of a Keypoint R-CNN on a feature pyramid; crowds are ignored.

    The keypoints are those of the data; in flipped images left and right ones are exchanged, by their names.
    Source: He et al., Mask R-CNN, ICCV 2017, section 5. Where we differ: AdamW with a cosine, images at three scales.
    """

    task: ClassVar[Task] = "keypoints"
    metrics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"oks": "validation/main/map/iou=0.50:0.95/area=all/max_dets=20"}
    )
    usage: ClassVar[str] = "points, labels, scores = model.predict"

    model: FasterRCNNFPNConfig = config_field(help="the detector", group="model")
    head: PointHeadConfig = config_field(
        PointHeadConfig(), help="the keypoint head; its n_point is that of the data", group="model"
    )
    point_names: tuple[str, ...] = config_field((), help="names of the keypoints: those of the data", group="model")
    lr: float = region_lr_field()
    metric: Literal["oks"] = config_field(  # type: ignore[assignment]  # keypoints are not judged by boxes
        "oks",
        help="metric that selects the best model: AP of keypoints over OKS 0.50:0.95 by COCO's rules",
        group="validation",
    )
    oks_sigma: float = config_field(
        MEAN_OKS_SIGMA,
        help="standard deviation of annotations relative to the object's scale, of keypoints that are not COCO's; "
        "the default is the mean of COCO's",
        group="validation",
        above=0,
    )
    regions: int = regions_field()
    copy_paste: float = config_field(
        0.0,
        help="pasted objects need masks, which keypoints' data do not have: 0",
        group="augmentation",
        at_least=0,
        at_most=0,
    )
    jitter: float = config_field(0.0, help="strength of the color jitter", group="augmentation", at_least=0)

    def summary(self) -> str:
        return f"Keypoint R-CNN with FPN on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def splits(self) -> KeypointSplits:  # type: ignore[override]  # keypoints instead of boxes
        return keypoint_splits(self.data)

    def with_splits(self, splits: Any) -> AbstractRecipe:
        """The keypoints are those of the data. Raises ConfigError if the recipe has others."""
        names = tuple(splits.point_names)
        if self.point_names not in ((), names):
            raise ConfigError("the data have other keypoints than the recipe", expected=self.point_names, got=names)
        return dataclasses.replace(self, point_names=names, head=dataclasses.replace(self.head, n_point=len(names)))

    def build_model(self, label_names: Sequence[str]) -> KeypointRCNNFPN:
        return KeypointRCNNFPN(
            None,
            self.pretrained,
            label_names=label_names,
            settings=self.model,
            point_settings=self.head,
            point_names=self.point_names or None,
        )

    def anchors(self, model: RecipeModel) -> Anchors:
        """Those of the region proposal network."""
        return proposal_anchors(self.model)

    def build_loss(self, model: RecipeModel, splits: Splits) -> KeypointRCNNFPNLoss:
        return KeypointRCNNFPNLoss(model, sampling=RegionSampling(n_region=self.regions))

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        transform = KeypointRCNNTransform(
            self.shorts,
            self.model.max_size,
            mirrored=mirrored_points(self.point_names) if self.flip else None,
            part=self.part,
            jitter=self.jitter,
            mean=self.model.mean,
            std=self.model.std,
        )
        keys = ("img", "bbox", "label", "point", "visible", "crowded")
        return TransformDataset(self.mixed(train.slice[:, keys], self.mosaic_size), (*keys[:5], "ignored"), transform)

    def evaluator(self, model: RecipeModel, splits: Splits) -> KeypointCOCOEvaluator:  # type: ignore[override]
        """COCO's average precision of keypoints on the validation set."""
        val = splits.val.slice[:, ("img", "point", "visible", "bbox", "label", "area", "crowded")]
        sigmas = None if self.point_names == COCO_POINT_NAMES else [self.oks_sigma] * len(self.point_names)
        return KeypointCOCOEvaluator(
            SerialIterator(val, 1, repeat=False, shuffle=False),
            model,
            label_names=splits.label_names,
            parameters=COCOParameters("keypoints", kpt_oks_sigmas=sigmas),
        )

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image with boxes and keypoints, and the number of objects; ignored ones are not drawn."""
        img, bbox, label, point, visible, ignored = example
        pixels = denormalized(img, mean=self.model.mean, std=self.model.std)
        drawn = draw_bbox(pixels, bbox[~ignored], label[~ignored], label_names=label_names)
        n = int(ignored.sum())
        caption = f"{counted(len(bbox) - n, 'object')}, {counted(int(visible[~ignored].sum()), 'keypoint')}" + (
            f", {n} ignored" if n else ""
        )
        return draw_point(drawn, point[~ignored], visible[~ignored]), caption

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """Objects of a score of 0.3 or more with their keypoints."""
        img = example[0]
        result = model.predict([img])
        shown = result.scores[0] >= DRAWN_SCORE
        rest = result.labels[0][shown], result.scores[0][shown]
        drawn = draw_bbox(img, result.bboxes[0][shown], *rest, label_names=label_names)
        return draw_point(
            drawn, result.points[0][shown]
        ), f"{counted(int(shown.sum()), 'object')}, score {DRAWN_SCORE} or more"


KEYPOINT_RCNN_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "keypoint_rcnn_fpn_resnet18_small": KeypointRCNNRecipe(
            model=SMALL, head=PointHeadConfig(depth=4, channels=128), lr=5e-4
        ).with_pretrained("imagenet"),
        "keypoint_rcnn_fpn_resnet50": KeypointRCNNRecipe(model=FasterRCNNFPNConfig()).with_pretrained("imagenet"),
    }
)
