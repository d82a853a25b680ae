"""Features of photos, of their middle or averaged over ten crops."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, ImageError, ShapeError, ValueRangeError
from cvzoo.links.model.convnext.convnext import ConvNeXt, ConvNeXtDimensions
from cvzoo.links.model.feature_predictor import FeaturePredictor
from cvzoo.links.model.predict_ten_crops import predict_ten_crops
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.transforms.center_crop import center_crop
from cvzoo.transforms.scale import scale
from cvzoo.transforms.ten_crop import ten_crop

random = np.random.default_rng(0)
PHOTOS = [random.integers(0, 256, (3, *size)).astype(np.float32) for size in ((40, 60), (32, 32), (70, 45))]
MEAN = (10.0, 20.0, 30.0)


@pytest.fixture
def model():
    set_seed(0)
    plan = ConvNeXtDimensions((8, 8, 16, 16), (1, 1, 1, 1), 0.1)
    names = tuple("abcde")
    return ConvNeXt("tiny", label_names=names, plan=plan, preparation=PhotoPreparation(36, 32, mean=(0.5, 0.4, 0.3)))


def means(x):
    """A network of one function: the mean of each channel."""
    return F.average(x, axis=(2, 3))


def test_the_middle_is_cut_out_and_the_mean_subtracted():
    predictor = FeaturePredictor(means, crop_size=(20, 30), mean=MEAN)
    want = [center_crop(img, (20, 30)).mean(axis=(1, 2)) - MEAN for img in PHOTOS]
    np.testing.assert_allclose(predictor.predict(PHOTOS), want, rtol=1e-4)
    assert predictor.prepare(PHOTOS[0]).shape == (1, 3, 20, 30)


def test_features_of_ten_crops_are_averaged():
    predictor = FeaturePredictor(lambda x: means(x) ** 2, crop_size=24, crop="10", mean=MEAN)
    want = [((ten_crop(img, (24, 24)).mean(axis=(2, 3)) - MEAN) ** 2).mean(axis=0) for img in PHOTOS]
    for batch_size in (1, 25, 100):
        np.testing.assert_allclose(predictor.predict(PHOTOS, batch_size=batch_size), want, rtol=1e-4)


@pytest.mark.parametrize("scale_size", [50, (33, 44)])
def test_photos_are_resized_before(scale_size):
    predictor = FeaturePredictor(lambda x: x, crop_size=32, scale_size=scale_size, mean=(0, 0, 0))
    got = predictor.predict(PHOTOS)
    assert got.shape == (3, 3, 32, 32)
    if scale_size == 50:
        np.testing.assert_array_equal(got[0], center_crop(scale(PHOTOS[0], 50), (32, 32)))


def test_what_the_classifier_picks_is_the_feature(model):
    model.pick = "res4"
    predictor = FeaturePredictor(model, crop_size=(32, 48), scale_size=64)
    res4 = predictor.predict(PHOTOS)
    assert res4.shape == (3, 16, 2, 3)
    model.pick = ("pool5", "res4")
    pool5, again = predictor.predict(PHOTOS, batch_size=2)
    assert pool5.shape == (3, 16)
    np.testing.assert_allclose(again, res4, rtol=1e-4, atol=1e-5)
    img = center_crop(scale(PHOTOS[2], 64), (32, 48))
    x = (img / 255 - np.reshape((0.5, 0.4, 0.3), (3, 1, 1))) / np.reshape((0.229, 0.224, 0.225), (3, 1, 1))
    with using_config("train", False), no_backprop_mode():
        want = model(x[None].astype("f"))[0].array
    np.testing.assert_allclose(pool5[2:], want, rtol=1e-3, atol=1e-4)


def test_a_classifier_is_its_child(model):
    predictor = FeaturePredictor(model, crop_size=32)
    assert next(name for name, _ in predictor.namedparams()).startswith("/extractor/")
    before = PHOTOS[0].copy()
    with using_config("train", True):
        predictor.predict(PHOTOS[:1])
    np.testing.assert_array_equal(PHOTOS[0], before)


def test_no_photos_have_no_features(model):
    model.pick = ("pool5", "fc6")
    pool5, fc6 = FeaturePredictor(model, crop_size=32, crop="10").predict([])
    assert (pool5.shape, fc6.shape) == ((0, 16), (0, 5))


def test_the_attribute_mean_of_an_extractor_is_subtracted_and_one_number_from_all_channels():
    class Extractor(cvzoo.Link):
        mean = np.reshape(MEAN, (3, 1, 1))

        def forward(self, x):
            return means(x)

    wanted = FeaturePredictor(means, 20, mean=MEAN).predict(PHOTOS)
    np.testing.assert_array_equal(FeaturePredictor(Extractor(), 20).predict(PHOTOS), wanted)
    one = FeaturePredictor(means, 20, None, "center", 5.0).predict(PHOTOS)
    np.testing.assert_array_equal(one, FeaturePredictor(means, 20, mean=(5, 5, 5)).predict(PHOTOS))


def test_settings_that_make_no_sense_are_refused(model):
    with pytest.raises(ValueRangeError, match="crop"):
        FeaturePredictor(model, crop_size=32, crop="9")
    with pytest.raises(ValueRangeError, match="mean"):
        FeaturePredictor(means, crop_size=32)
    with pytest.raises(ValueRangeError, match="one number or three"):
        FeaturePredictor(means, crop_size=32, mean=(1, 2))
    with pytest.raises(ShapeError, match="smaller than the crop"):
        FeaturePredictor(model, crop_size=41).predict(PHOTOS[:1])
    with pytest.raises(ValueRangeError, match="batch_size"):
        FeaturePredictor(model, crop_size=32).predict(PHOTOS, batch_size=0)
    with pytest.raises(ShapeError, match="no features"):
        FeaturePredictor(F.sum, crop_size=32, mean=MEAN).predict(PHOTOS)
    with pytest.raises(DtypeError, match="floating"):
        FeaturePredictor(lambda x: x > 0, crop_size=32, mean=MEAN).predict(PHOTOS)
    with pytest.raises(DtypeError, match="several images"):
        FeaturePredictor(model, crop_size=32).predict("photo.jpg")
    with pytest.raises(ImageError):
        FeaturePredictor(model, crop_size=32).predict([b"no image"])


def test_probabilities_of_ten_crops_are_averaged(model):
    result = predict_ten_crops(model, PHOTOS)
    assert result.probs.shape == (3, 5)
    np.testing.assert_allclose(result.probs.sum(axis=1), 1, rtol=1e-5)
    assert set(result.top(2).names[0]) <= set("abcde")
    crops = ten_crop(scale(PHOTOS[0], 36), (32, 32))
    x = (crops / 255 - np.reshape((0.5, 0.4, 0.3), (3, 1, 1))) / np.reshape((0.229, 0.224, 0.225), (3, 1, 1))
    with using_config("train", False), no_backprop_mode():
        want = F.softmax(model.scores(x.astype("f"))).array.mean(axis=0)
    np.testing.assert_allclose(result.probs[0], want, rtol=1e-3, atol=1e-5)
    assert predict_ten_crops(model, []).probs.shape == (0, 5)
    model.pick = "pool5"  # probabilities all the same
    np.testing.assert_array_equal(predict_ten_crops(model, PHOTOS).probs, result.probs)
    with pytest.raises(ShapeError, match="several images"):
        predict_ten_crops(model, PHOTOS[0])
    model.preparation = None
    with pytest.raises(ValueRangeError, match="does not declare"):
        predict_ten_crops(model, PHOTOS)
