"""A small RetinaNet learns eight photos by heart and finds their cells again."""

import pytest

from cvzoo import optimizers, training
from cvzoo.config import set_seed
from cvzoo.datasets import TransformDataset, VOCFolderBboxDataset
from cvzoo.evaluations import eval_detection_voc
from cvzoo.iterators import SerialIterator
from cvzoo.links.model.retinanet.augmentation import RetinaNetTransform, collate_images
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.training.extensions import OneCycleShift

NAMES = ("RBC", "WBC", "Platelets")
N_STEP = 60


@pytest.mark.slow
def test_eight_photos_are_learned_and_found_again(shared, tmp_path):
    set_seed(0)
    dataset = VOCFolderBboxDataset(shared / "data/bccd/BCCD", "train", label_names=NAMES).slice[:8]
    settings = RetinaNetSettings(
        n_layer=10,
        base_channels=16,
        channels=64,
        head_depth=1,
        head_groups=8,
        anchor_sizes=((16, 23), (32, 45), (64, 91), (128, 181), (256, 362)),
        min_size=240,
        max_size=480,
    )
    model = RetinaNet(3, label_names=NAMES, settings=settings)
    examples = TransformDataset(dataset, RetinaNetTransform((240,), 480, flip=False))[:]
    optimizer = optimizers.Adam(alpha=2e-3).setup(RetinaNetLoss(model))
    updater = training.StandardUpdater(SerialIterator(examples, 8, seed=0), optimizer, converter=collate_images)
    trainer = training.Trainer(updater, (N_STEP, "iteration"), out=tmp_path)
    trainer.extend(OneCycleShift("lr", N_STEP, rise=0.2))
    trainer.run()
    assert float(trainer.observation["main/loss"]) < 0.2
    imgs, bboxes, labels = zip(*dataset)
    with model.using_preset("evaluate"):
        found = model.predict(imgs)
    result = eval_detection_voc(found.bboxes, found.labels, found.scores, bboxes, labels, iou_thresh=0.5)
    assert result["map"] > 0.9, result
