"""Images that look the same are told from those that do not."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.doctor.image_facts import image_facts, many_image_facts
from cvzoo.datasets.doctor.near_duplicates import are_near, near_duplicates


def scene(seed):
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((160, 120), Image.Resampling.BICUBIC)


def pairs_of(paths):
    facts = list(many_image_facts(paths))
    return near_duplicates(np.stack([each.fingerprint for each in facts]), np.stack([each.look for each in facts]))


@pytest.mark.parametrize(
    "change",
    [
        lambda pil: pil.resize((80, 60)),
        lambda pil: pil.resize((320, 240)),
        lambda pil: pil.point(lambda value: value * 0.8),
        lambda pil: pil.convert("L"),
        lambda pil: pil,
    ],
    ids=["half", "twice", "darker", "grey", "compressed"],
)
def test_a_changed_copy_is_found(tmp_path, change):
    for seed in range(5):
        scene(seed).save(tmp_path / f"{seed}.png")
    change(scene(2)).save(tmp_path / "copy.jpg", quality=50)
    assert pairs_of([*(tmp_path / f"{seed}.png" for seed in range(5)), tmp_path / "copy.jpg"]) == [(2, 5)]


def test_different_photos_are_no_pairs_over_many_blocks(tmp_path):
    rng = np.random.default_rng(0)
    fingerprints = rng.integers(0, 256, (700, 32), dtype=np.uint8)
    looks = rng.integers(0, 256, (700, 32, 32), dtype=np.uint8)
    assert near_duplicates(fingerprints, looks) == []
    fingerprints[650], looks[650] = fingerprints[3], looks[3]
    assert near_duplicates(fingerprints, looks) == [(3, 650)]


def test_plain_photos_are_no_pairs(tmp_path):
    for i, color in enumerate([(250, 250, 250), (252, 250, 250)]):
        Image.new("RGB", (40, 30), color).save(tmp_path / f"{i}.png")
    assert pairs_of([tmp_path / "0.png", tmp_path / "1.png"]) == []


def test_images_are_near_if_their_thumbnails_correlate():
    rng = np.random.default_rng(0)
    looks = rng.integers(0, 256, (300, 32, 32), np.uint8) // rng.integers(1, 12, (300, 1, 1), np.uint8)
    noise = rng.normal(0, rng.uniform(0, 10, (300, 1, 1)), looks.shape)
    others = np.clip(looks * rng.uniform(0.5, 1, (300, 1, 1)) + noise, 0, 255).astype(np.uint8)
    others[::20] = 7
    flat = looks.reshape(300, -1).std(1) <= 12
    with np.errstate(all="ignore"):  # of images of one color
        correlated = [np.corrcoef(a.ravel(), b.ravel())[0, 1] >= 0.98 for a, b in zip(looks, others)]
    near = are_near(looks, others)
    assert near.tolist() == (np.array(correlated) & ~flat).tolist()
    assert 50 < near.sum() < 200
    assert flat.any()


def test_no_photos_are_no_pairs():
    assert near_duplicates(np.zeros((0, 32), np.uint8), np.zeros((0, 32, 32), np.uint8)) == []


def test_facts_come_in_order_and_stop_with_their_reader(tmp_path):
    for seed in range(40):
        scene(seed).resize((10 + seed, 10)).save(tmp_path / f"{seed:02}.png")
    paths = [None, *sorted(tmp_path.iterdir())]
    facts = list(many_image_facts(paths))
    assert facts[0] is None
    assert [each.size for each in facts[1:]] == [(10, 10 + seed) for seed in range(40)]
    some = many_image_facts(paths)
    next(some)
    some.close()


def test_a_photo_that_is_a_folder_is_a_fault(tmp_path):
    assert image_facts(tmp_path).trouble is not None
