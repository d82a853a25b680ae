import dataclasses
import functools
import hashlib
import json
import zipfile

import numpy as np
import pytest

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.recognition import loader, recognise, torchvision_name
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.weights.formats.npz import write_npz
from cvzoo.weights.record import Signature, Weights


class Tiny(Chain):
    def __init__(self, n_class=None, pretrained_model=None, *, depth=1, label_names=None):
        self.path, self.depth, self.label_names = pretrained_model, depth, label_names


def member(name="a", file="a.pth", *, source="somebody", sha256=None, make=None, depth=1, signature=None):
    record = Weights(
        name=name,
        url=f"https://example.org/{file}",
        sha256=sha256,
        licence="MIT",
        data="none",
        data_licence="none",
        source=source,
        signature=signature,
    )
    make = functools.partial(Tiny, pretrained_model="key", depth=depth) if make is None else make
    return ZooMember(name, make, record, (record,))


def names(candidates):
    return [each.member.name for each in candidates]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.npz"
    write_npz(path, {"x": np.arange(3)})
    return path


def test_the_signature_of_every_network_of_torchvisions_fits_no_other(shared):
    manifest = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())
    signatures = {torchvision_name(each.weights): each.weights.signature for each in zoo_members()}
    signatures.pop(None)
    assert set(manifest) - set(signatures) == {"maxvit_t"}  # not in the zoo
    for name, entry in manifest.items():
        shapes = {key: tuple(shape) for key, shape, *_ in entry["keys"] if not key.endswith("num_batches_tracked")}
        fitting = {
            other
            for other, signature in signatures.items()
            if signature.n_array == len(shapes) and shapes.get(signature.array) == signature.shape
        }
        twins = {"fasterrcnn_mobilenet_v3_large_fpn", "fasterrcnn_mobilenet_v3_large_320_fpn"}  # of one build
        assert fitting == (twins if name in twins else {name} & set(signatures))


def test_a_state_dict_of_a_known_network_that_the_zoo_does_not_have_is_named(file, shared):
    manifest = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())
    arrays = {name: np.broadcast_to(np.float32(0), shape) for name, shape, *_ in manifest["maxvit_t"]["keys"]}
    with pytest.raises(UnsupportedError, match=r"x\.npz has the weights of torchvision's maxvit_t, .* not in the zoo"):
        recognise(file, arrays, zoo_members())
    fine_tuned = arrays | {"classifier.5.weight": np.zeros((3, 512))}
    with pytest.raises(UnsupportedError, match="maxvit_t"):
        recognise(file, fine_tuned, [])


def test_torchvisions_names_and_shapes_say_which_network_it_is(file):
    arrays = {f"{i}": np.zeros(1) for i in range(15)} | {"features.10.weight": np.zeros((256, 256, 3, 3))}
    arrays |= {"0.num_batches_tracked": np.array(1)}
    alexnet = Signature(16, "features.10.weight", (256, 256, 3, 3))
    vgg = Signature(32, "features.28.weight", (512, 512, 3, 3))
    members = [
        member("other", source="torchvision, VGG16_Weights.IMAGENET1K_V1", signature=vgg),
        member("alex", source="torchvision, AlexNet_Weights.IMAGENET1K_V1", signature=alexnet),
        member("alex_v2", source="torchvision, AlexNet_Weights.IMAGENET1K_V2", signature=alexnet),  # built alike
    ]
    found = recognise(file, arrays, members)
    assert names(found) == ["alex"]
    assert found[0].load("FILE").path == "FILE"


@pytest.mark.parametrize("kind", ["sha256", "sha1", "md5"])
def test_a_published_file_is_known_by_the_digits_in_its_name(file, kind):
    digits = hashlib.new(kind, file.read_bytes()).hexdigest()[:8]
    found = recognise(file, {"x": np.zeros(3)}, [member("no", "no-01234567.pth"), member("yes", f"yes-{digits}.pth")])
    assert names(found) == ["yes"]
    assert kind in found[0].why


def test_a_known_sha256_counts_more_than_digits(file):
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    wrong = member("wrong", f"wrong-{sha256[:8]}.pth", sha256="0" * 64)
    assert names(recognise(file, {"x": np.zeros(3)}, [wrong, member("right", sha256=sha256)])) == ["right"]


def test_gluons_digits_are_of_what_is_in_the_zip(tmp_path):
    data = b"\x12\x01" + bytes(30)
    path = tmp_path / "net.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net.params", data)
    digits = hashlib.sha1(data).hexdigest()[:8]
    assert names(recognise(path, {}, [member("net", f"net-{digits}.zip")])) == ["net"]


def test_of_an_unknown_layout_all_that_are_published_in_such_files_are_candidates(file):
    members = [member("a", "a.npz"), member("b", "b.pth"), member("a2", "a2.npz"), member("c", "c.npz", depth=2)]
    assert names(recognise(file, {"x": np.zeros(3)}, members)) == ["a", "c"]


def test_a_member_that_is_not_made_from_one_file_is_no_candidate(file):
    odd = member("odd", "a.npz", make=Tiny)
    assert loader(odd) is None
    assert recognise(file, {"x": np.zeros(3)}, [odd]) == ()


def test_the_record_says_what_a_file_of_darknet_does_not():
    odd = member("yolo", "yolo.weights")
    record = dataclasses.replace(odd.weights, label_names=("cat", "dog"))
    assert loader(odd._replace(weights=record))("FILE").label_names == ("cat", "dog")
    named = dataclasses.replace(member("net", "net.pth").weights, label_names=("cat", "dog"))
    assert loader(odd._replace(weights=named))("FILE").label_names is None


def test_torchvisions_members_have_a_signature_and_no_others():
    for each in zoo_members():
        assert (torchvision_name(each.weights) is None) == (each.weights.signature is None), each.name
