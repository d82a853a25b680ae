"""What a reader of the pages has in his folder: small parts of real data and real networks, or drawn ones."""

import json
import pathlib
import shutil

import numpy as np
import pytest
from neighbour import module_at
from PIL import Image

import cvzoo
import cvzoo.links as L
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.datasets import GetterDataset, coco_bbox_label_names, voc_bbox_label_names
from cvzoo.datasets.archive import dataset_home
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.retinanet.text import retinanet_text
from cvzoo.serializers import save_model
from cvzoo.training.recipes import RECIPES
from cvzoo.weights import Weights
from cvzoo.weights.cache import cached_path

ROOT = pathlib.Path(__file__).resolve().parents[2]


def link(shared, name, place):
    """The file or folder of the shared data, at another place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(shared / name)


def photo(path, seed=0, size=(48, 64)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8)).save(path)


def voc_folder(shared, root, splits):
    """Photos of blood cells in VOC's layout, the first of each split; the masters are 640 x 480."""
    bccd = shared / "data" / "bccd" / "BCCD"
    (root / "ImageSets" / "Main").mkdir(parents=True)
    for folder in ("Annotations", "JPEGImages"):
        (root / folder).mkdir()
    for split, count in splits.items():
        names = (bccd / "ImageSets" / "Main" / f"{split}.txt").read_text().split()[:count]
        (root / "ImageSets" / "Main" / f"{split}.txt").write_text("\n".join(names) + "\n")
        for name in names:
            shutil.copy(bccd / "Annotations" / f"{name}.xml", root / "Annotations")
            shutil.copy(bccd / "JPEGImages" / f"{name}.jpg", root / "JPEGImages")


def drawn_voc(root, *splits, n=2):
    """Photos of noise with a cat or a dog, n a split, in VOC's layout."""
    for folder in ("Annotations", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    box = "<bndbox><xmin>3</xmin><ymin>5</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>"
    for first, split in enumerate(splits):
        numbers = range(first * n + 1, first * n + n + 1)
        for number in numbers:
            photo(root / "JPEGImages" / f"{number:06}.jpg", number)
            name = ("dog", "cat")[number % 2]
            text = f"<annotation><object><name>{name}</name><difficult>0</difficult>{box}</object></annotation>"
            (root / "Annotations" / f"{number:06}.xml").write_text(text)
        (root / "ImageSets" / "Main" / f"{split}.txt").write_text("".join(f"{number:06}\n" for number in numbers))


def coco_file(shared, path, photos, count=3):
    """A part of tiny COCO: its annotations at `path`, its photos in the folder `photos`."""
    tiny = shared / "data" / "tiny_coco"
    record = json.loads((tiny / "annotations" / "instances_train2017.json").read_text())
    record["images"] = record["images"][:count]
    ids = {image["id"] for image in record["images"]}
    record["annotations"] = [each for each in record["annotations"] if each["image_id"] in ids]
    path.parent.mkdir(parents=True, exist_ok=True)
    photos.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    for image in record["images"]:
        shutil.copy(tiny / "train2017" / image["file_name"], photos)
    return record


def in_cache(shared, record):
    """A published file where a download would have put it."""
    path = cached_path(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    (found,) = (shared / "weights").rglob(record.file_name)
    shutil.copy(found, path)


def yolo_fastest(shared):
    for record in zoo_member("yolo_fastest").files:
        in_cache(shared, record)


def readme(shared, folder):
    (folder / "examples").symlink_to(ROOT / "examples")
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")
    for name in ("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights", "coco.names"):
        link(shared, f"weights/yolo_fastest_coco/{name}", folder / name)
    voc_folder(shared, folder / "ROOT", {"train": 4, "val": 2})
    shutil.copy(next((folder / "ROOT" / "JPEGImages").iterdir()), folder / "photo.jpg")


def data(shared, folder):
    voc_folder(shared, folder / "BCCD", {"train": 3, "val": 2})
    coco_file(shared, folder / "annotations" / "instances_train.json", folder / "train")
    coco_file(shared, folder / "COCO" / "annotations" / "instances_val2017.json", folder / "COCO" / "val2017")
    for number in (1, 2):
        photo(folder / "my_photos" / "images" / f"{number}.jpg", number)
        label = folder / "my_photos" / "labels" / f"{number}.txt"
        label.parent.mkdir(exist_ok=True)
        label.write_text("0 0.5 0.5 0.3 0.4\n")
    (folder / "my_photos" / "classes.txt").write_text("screw\n")
    sroie = shared / "data" / "sroie"
    for split in ("train", "val"):
        names = (sroie / f"{split}.txt").read_text().split()[:2]
        (folder / "SROIE").mkdir(exist_ok=True)
        (folder / "SROIE" / f"{split}.txt").write_text("\n".join(names) + "\n")
        for name in names:
            for kind in ("box", "img"):
                (folder / "SROIE" / kind).mkdir(exist_ok=True)
                shutil.copy(next((sroie / kind).glob(f"{name}.*")), folder / "SROIE" / kind)


def datasets(folder):
    drawn_voc(dataset_home("voc") / "VOCdevkit" / "VOC2007", "trainval")
    return {"GetterDataset": GetterDataset}


def evaluation(shared, folder):
    record = coco_file(shared, folder / "instances_val2017.json", folder / "val2017")
    coco_file(shared, folder / "COCO" / "annotations" / "instances_val2017.json", folder / "COCO" / "val2017", 2)
    found = [
        {"image_id": each["image_id"], "category_id": each["category_id"], "bbox": each["bbox"], "score": 0.5}
        for each in record["annotations"]
    ]
    (folder / "results.json").write_text(json.dumps(found))
    for name in ("before", "after"):
        shutil.copy(folder / "results.json", folder / f"{name}.json")
    names = {each["id"]: each["name"] for each in record["categories"]}
    files = {each["id"]: each["file_name"] for each in record["images"]}
    rows = [
        ",".join(map(str, (files[each["image_id"]], names[each["category_id"]], 0.5, *each["bbox"]))) for each in found
    ]
    (folder / "results.csv").write_text("\n".join(["photo,label,score,x,y,width,height", *rows]) + "\n")
    drawn_voc(folder / "VOCdevkit" / "VOC2007", "test")
    (folder / "results").mkdir()
    (folder / "results" / "comp4_det_test_cat.txt").write_text("000001 0.9 3 5 30 20\n")
    yolo_fastest(shared)
    for kind in ("images", "labels"):
        (folder / "my_photos" / kind / "val").mkdir(parents=True)
    shutil.copy(shared / "data" / "photos" / "dog.jpg", folder / "my_photos" / "images" / "val" / "dog.jpg")
    (folder / "my_photos" / "labels" / "val" / "dog.txt").write_text("0 0.5 0.5 0.3 0.4\n")
    (folder / "my_photos" / "classes.txt").write_text("dog\n")
    nano = "weights/mobilenetv2_yolov3_nano_voc"
    for name, file in (("net.cfg", "MobileNetV2-YOLOv3-Nano-voc.cfg"), ("voc.names", "voc.names")):
        link(shared, f"{nano}/{file}", folder / name)
    link(shared, f"{nano}/MobileNetV2-YOLOv3-Nano-voc.weights", folder / "net.weights")
    _classes(shared, folder)
    for name, file in (("test", "image.png"), ("testannot", "label.png")):
        link(shared, f"data/camvid_sample/{file}", folder / name / "1.png")
    in_cache(shared, zoo_member("espnet_camvid").files[0])
    for name in ("SegmentationClass", "my_maps"):
        (folder / name).mkdir()
        Image.fromarray(np.random.default_rng(0).integers(0, 20, (30, 40), np.uint8)).save(folder / name / "1.png")
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")
    _public_label_maps(shared, folder)
    net = shared / "weights" / "yolo_fastest_coco"
    files = (net / "yolo-fastest-1.1.cfg", net / "yolo-fastest-1.1.weights")
    save_model(folder / "trained_detector.safetensors", L.DarknetDetector(*files, label_names=net / "coco.names"))
    for name in ("panoptic_val2017", "panoptic_results"):
        panoptic_file(folder / f"{name}.json")
    drawn_voc(dataset_home("voc") / "VOCdevkit" / "VOC2007", "test")
    return {"model": L.DarknetDetector(folder / "net.cfg", folder / "net.weights", label_names=voc_bbox_label_names)}


def _public_label_maps(shared, folder):
    for name, file in (("val", "image.png"), ("valannot", "label.png")):
        link(shared, f"data/camvid_sample/{file}", folder / "CamVid" / name / "1.png")
    (folder / "CamVid" / "val.txt").write_text("val/1.png valannot/1.png\n")
    cityscapes, voc = folder / "Cityscapes", folder / "VOCdevkit" / "VOC2012"
    places = ("leftImg8bit/val/ulm/ulm_0_1_leftImg8bit.png", "gtFine/val/ulm/ulm_0_1_gtFine_labelIds.png")
    for path in (*(cityscapes / place for place in places), folder / "submission" / "ulm_0_1.png"):
        path.parent.mkdir(parents=True)
        Image.fromarray(np.full((30, 40), 7, np.uint8)).save(path)
    square = np.zeros((30, 40), np.uint8)
    square[5:20, 5:20] = 1
    for name in ("JPEGImages/1.jpg", "SegmentationClass/1.png", "SegmentationObject/1.png"):
        (voc / name).parent.mkdir(parents=True)
        Image.fromarray(square).save(voc / name)
    mask = RLEs.from_masks(square[None] > 0).to_coco()[0]
    (folder / "masks.json").write_text(
        json.dumps([{"image_id": 1, "category_id": 1, "score": 0.9, "segmentation": mask}])
    )
    (voc / "ImageSets" / "Segmentation").mkdir(parents=True)
    (voc / "ImageSets" / "Segmentation" / "val.txt").write_text("1\n")


def panoptic_file(path):
    """One image with a cat below the sky, as COCO's panoptic files have it."""
    path.with_suffix("").mkdir()
    ids = np.zeros((30, 40, 3), np.uint8)
    ids[:20, :, 0], ids[20:, :, 1] = 5, 1
    Image.fromarray(ids).save(path.with_suffix("") / "1.png")
    segments = [{"id": 5, "category_id": 9}, {"id": 256, "category_id": 1}]
    categories = [{"id": 1, "isthing": 1, "name": "cat"}, {"id": 9, "isthing": 0, "name": "sky"}]
    image = {"image_id": 1, "file_name": "1.png", "segments_info": segments}
    path.write_text(json.dumps({"annotations": [image], "categories": categories}))


def _classes(shared, folder):
    in_cache(shared, zoo_member("cifar_resnet20_cifar10").files[0])
    with np.load(shared / "data" / "cifar10_train_4000.npz") as cifar:
        imgs, labels = cifar["images"][:20], cifar["labels"][:20]
    rows = np.concatenate((labels[:, None].astype(np.uint8), imgs.transpose(0, 3, 1, 2).reshape(20, -1)), axis=1)
    (folder / "cifar-10-batches-bin").mkdir()
    (folder / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(rows.tobytes())
    for name, seed in (("cat", 1), ("dog", 2)):
        photo(folder / "ROOT" / name / f"{seed}.jpg", seed)
    save_model(folder / "trained.safetensors", CIFARResNet(8, 2, label_names=("cat", "dog")))
    (folder / "guesses.csv").write_text("photo,label\n1,cat\n2,cat\n")


def quantization(shared, folder):
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")
    for name in ("photos", "calibration"):
        link(shared, "data/photos/dog.jpg", folder / name / "dog.jpg")
    coco_file(shared, folder / "COCO" / "annotations" / "instances_val2017.json", folder / "COCO" / "val2017", 2)
    yolo_fastest(shared)
    net = shared / "weights" / "yolo_fastest_coco"
    model = L.DarknetDetector(net / "yolo-fastest-1.1.cfg", net / "yolo-fastest-1.1.weights")
    return {"cvzoo": cvzoo, "model": model, "photos": ["dog.jpg"]}


def weights(shared, folder):
    link(shared, "weights/resnet20_cifar10/resnet20-12fca82f.th", folder / "resnet20-12fca82f.th")
    about = dict.fromkeys(("licence", "data", "data_licence", "source"), "not stated")
    path = cached_path(Weights(name="tiny_net", url="https://example.org/tiny_net.npz", sha256=None, **about))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"test")  # the page's hash is this text's


def export(folder):
    shutil.copy(ROOT / "examples" / "receipt.png", folder)
    assert zoo_member("resnet50_imagenet")
    save_model(folder / "resnet50_imagenet.safetensors", L.ResNet18(n_class=10))
    save_model(folder / "mine.safetensors", retinanet_text())
    (folder / "examples").symlink_to(ROOT / "examples")
    return {"model": retinanet_text()}


def benchmark(folder):
    photo(folder / "photos" / "1.jpg", 1, (64, 96))


def tuning(folder):
    for split in ("train", "val"):
        for seed, name in enumerate(("cat", "dog")):
            photo(folder / "ROOT" / split / name / f"{seed}.jpg", seed, (32, 32))


def singa(folder):
    rng = np.random.default_rng(0)
    draw = lambda: (rng.normal(size=(64, 784)).astype("float32"), rng.integers(0, 10, 64).astype("int32"))  # noqa: E731
    return {"batches": [draw() for _ in range(3)]}


def movie(folder):
    with cvzoo.images.VideoWriter(folder / "movie.mp4", frame_rate=10) as video:
        for k in range(12):
            video.write(np.full((3, 48, 64), 20.0 * k, np.float32))


def images(folder):
    movie(folder)
    return {"cvzoo": cvzoo, "model": retinanet_text()}


def gpu(folder):
    shutil.copy(ROOT / "examples" / "receipt.png", folder / "photo.jpg")


def zoo(shared, folder):
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")
    link(shared, "data/photos/person.jpg", folder / "people.jpg")
    link(shared, "data/photos/dog.jpg", folder / "photo.jpg")
    (folder / "examples").symlink_to(ROOT / "examples")
    own = module_at(ROOT / "examples/own_detector.py")
    own.main(folder / "own.safetensors")
    return {"L": L, "x": np.zeros((1, 3, 224, 224), "float32"), "PointDetector": own.PointDetector}


def from_torchvision(shared, folder):
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")


def from_ultralytics(shared, folder):
    link(shared, "data/photos/dog.jpg", folder / "dog.jpg")
    yolo_fastest(shared)


def tutorials_predict(folder):
    (folder / "examples").symlink_to(ROOT / "examples")
    movie(folder)


def tutorials_evaluate(folder):
    tutorials_predict(folder)


def tutorials_export(folder):
    tutorials_predict(folder)


def tutorials_detector(folder):
    tutorials_predict(folder)
    module_at(ROOT / "examples/own_detector.py").main(folder / "own.safetensors")


def tutorials_finetune(folder):
    drawn_voc(folder / "ROOT", "train", "val", n=4)
    (folder / "runs" / "other").mkdir(parents=True)
    other = L.RetinaNet(3, config=RECIPES["retinanet_resnet18_small"].model)
    save_model(folder / "runs" / "other" / "best.safetensors", other)


COCO = {"label_names": coco_bbox_label_names}
FETCHED = {  # constructor: its files' names in the zoo, what stands for it, the number of classes in the file
    "ResNet50": ("resnet50_", L.ResNet50, {"n_class": 1000}),
    "VGG16": ("vgg16_", L.VGG16, {"n_class": 1000}),
    "SSD300": ("ssd300_", L.SSD300, {"n_fg_class": 20}),
    "MaskRCNNFPNResNet50": ("mask_rcnn_fpn_resnet50_", L.MaskRCNNFPNResNet50, {"n_fg_class": 80}),
    "FasterRCNNFPNResNet50": ("faster_rcnn_fpn_resnet50_", L.FasterRCNNFPNResNet50, COCO),
    "KeypointRCNNFPNResNet50": ("keypoint_rcnn_fpn_resnet50_", L.KeypointRCNNFPNResNet50, {"n_fg_class": 1}),
    "DeepLabV3ResNet50": ("deeplabv3_resnet50", L.DeepLabV3ResNet50, {"n_class": 21}),
    # a large network on a made-up GPU takes minutes
    "retinanet_resnet50_fpn": ("retinanet_resnet50_fpn", retinanet_text, {}),
}


def draw_what_would_be_fetched(monkeypatch):
    """Random numbers where the page says `pretrained_model="..."`, if the zoo has a file of that name."""
    known = {member.name for member in L.zoo_members()}
    for name, (prefix, make, settings) in FETCHED.items():

        def stand_in(*, pretrained_model=None, prefix=prefix, make=make, settings=settings, **given):
            if pretrained_model is None:
                return make(**given)
            assert {prefix, prefix + pretrained_model} & known, f"no file of {prefix} is called {pretrained_model}"
            return make(**({} if "label_names" in given else settings), **given)

        monkeypatch.setattr(L, name, stand_in)


def launch(folder):
    """A program for several processes, and MPI to start them."""
    pytest.importorskip("mpi4py")
    (folder / "program.py").write_text("from cvzoo.reporting import sign_of_life\n\nsign_of_life()\n")
