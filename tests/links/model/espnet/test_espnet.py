"""ESPNet: the authors' CamVid weights and their answer for a real frame."""

import numpy as np
import pytest
from zoo_family import family_of

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.files.file_hash import sha256_of
from cvzoo.images.read_image import read_image
from cvzoo.images.read_label import read_label
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.espnet.weights import CAMVID_NAMES, RECORDS


@pytest.fixture(scope="module")
def camvid(shared):
    return ESPNet(pretrained_model=shared / "weights" / "espnet_camvid" / "espnet_p_2_q_8_camvid.pth")


@pytest.fixture(scope="module")
def frame(shared):
    return read_image(shared / "data" / "camvid_sample" / "image.png")


@pytest.fixture(scope="module")
def expected(shared):
    return np.load(shared / "weights" / "expected" / "espnet_camvid_val_0016E5_07959.npz")


def test_the_stored_prediction_of_the_frame_comes_out(camvid, frame, expected):
    labels = camvid.predict([frame])
    assert (labels[0] == expected["pred"]).mean() >= 0.999


def test_the_stored_scores_come_out(camvid, frame, expected):
    with using_config("train", False), no_backprop_mode():
        y = camvid(camvid.prepare(frame)[None]).array[0]
    np.testing.assert_allclose(y, expected["logits_f16"].astype(np.float32), atol=0.01)


def test_it_sees_what_is_in_the_frame(camvid, frame, shared):
    truth = read_label(shared / "data" / "camvid_sample" / "label.png")
    known = truth != 11
    assert (camvid.predict([frame])[0] == truth)[known].mean() > 0.85


def test_the_file_says_what_it_is(camvid):
    assert (camvid.n_class, camvid.depths, camvid.mix_colors) == (12, (2, 8), True)
    assert camvid.label_names == CAMVID_NAMES
    assert camvid.load_report.is_clean


def test_the_record_is_of_this_file(shared):
    record = RECORDS["camvid"]
    path = shared / "weights" / "espnet_camvid" / record.file_name
    assert path.stat().st_size == record.size
    assert sha256_of(path) == record.sha256


def test_another_network_s_file_is_refused(shared):
    with pytest.raises(WeightsMismatchError):
        ESPNet(pretrained_model=shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th")
    with pytest.raises(ValueRangeError, match="cityscapes_q3"):
        ESPNet(pretrained_model="mars")


def test_a_network_of_cityscapes_has_a_narrower_last_convolution():
    wide, narrow = (ESPNet(20, depths=(1, 1), channels=(8, 16, 16), mix_colors=mix) for mix in (True, False))
    assert wide.mix.conv.W.shape[1] - narrow.mix.conv.W.shape[1] == 3
    x = np.zeros((1, 3, 16, 24), np.float32)
    assert narrow(x).shape == wide(x).shape == (1, 20, 16, 24)


def test_its_settings_are_told_as_json_and_make_it_again(camvid):
    (architecture,) = family_of(ESPNet).architectures
    again = architecture.build(architecture.settings(camvid), camvid.label_names)
    assert architecture.settings(again) == architecture.settings(camvid)
    assert {each.name for each in family_of(ESPNet).members} == {record.name for record in RECORDS.values()}


@pytest.mark.parametrize(
    "settings",
    [
        {"insize": (360, 481)},
        {"insize": (0, 8)},
        {"insize": (360,)},
        {"insize": (8.0, 8)},
        {"mean": (1, 2)},
        {"std": (1, 0, 1)},
        {"mean": (1, 2, float("nan"))},
    ],
)
def test_a_preparation_that_makes_no_sense_is_refused(settings):
    with pytest.raises(ValueRangeError, match="FramePreparation"):
        FramePreparation(**settings)


def test_a_frame_is_seen_blue_first():
    frame = FramePreparation((8, 8), (1.0, 2.0, 3.0), (1.0, 1.0, 2.0))
    img = np.stack([np.full((8, 8), v, np.float32) for v in (7, 5, 3)])
    np.testing.assert_allclose(frame(img)[:, 0, 0] * 255, [(3 - 1), (5 - 2), (7 - 3) / 2], rtol=1e-6)
    assert FramePreparation.from_json(frame.to_json()) == frame


def test_a_frame_is_seen_at_sizes_that_are_no_multiples_of_eight():
    model = ESPNet(5, preparation=FramePreparation((40, 56)))
    model.scales, model.flip = (0.1, 0.5, 1.0, 1.3), True
    (prob,) = model.predict([np.zeros((3, 37, 51), np.float32)], with_probs=True).probs
    np.testing.assert_allclose(prob.sum(axis=0), np.ones((37, 51)), atol=1e-5)
