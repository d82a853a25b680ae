"""Readers of annotations, of data sets, of archives and of results."""

import gzip
import io
import json
import pathlib
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image

from cvzoo.datasets.cifar_datasets import CIFAR10Dataset
from cvzoo.datasets.coco.json_datasets import COCOJSONBboxDataset, COCOJSONInstanceSegmentationDataset
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.extract import extract
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.mat_file import read_mat
from cvzoo.datasets.mnist_dataset import MNISTDataset
from cvzoo.datasets.sroie_dataset import SROIETextDataset
from cvzoo.datasets.voc.annotation import read_voc_objects
from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
from cvzoo.errors.exceptions import CvzooError
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_detections import read_coco_detections
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
from cvzoo.evaluations.results.class_results import read_class_results
from cvzoo.evaluations.results.csv_results import read_csv_results
from cvzoo.evaluations.results.voc_results import read_voc_results
from cvzoo.links.model.darknet.detector import read_label_names
from fuzzing.byte_mutations import BYTES, TEXT
from fuzzing.file_mutations import behind, in_zip
from fuzzing.target import MB, Target, reads
from fuzzing.tree_mutations import json_tree, xml_head, xml_tree

SIZE = 24, 32


def photo() -> bytes:
    """A small photo, as PNG."""
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (*SIZE, 3), np.uint8)).save(file, "png")
    return file.getvalue()


PHOTO = photo()
VOC = b"""<annotation><folder>a</folder><filename>a.png</filename>
<size><width>32</width><height>24</height><depth>3</depth></size><object><name>dog</name><pose>Left</pose>
<difficult>0</difficult><bndbox><xmin>3</xmin><ymin>5</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>
<part><name>head</name></part></object><object><name>cat</name><bndbox><ymin>1.5</ymin>
<xmin>1</xmin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"""
COCO = {
    "images": [{"id": 9, "file_name": "a.png", "height": 24, "width": 32}],
    "annotations": [
        {"id": 1, "image_id": 9, "category_id": 18, "bbox": [2.5, 3, 10, 8], "area": 70.5, "iscrowd": 0,
         "segmentation": [[2.5, 3, 12.5, 3, 12.5, 11, 2.5, 11]]},
        {"id": 2, "image_id": 9, "category_id": 1, "bbox": [0, 0, 32, 24], "area": 24, "iscrowd": 1,
         "segmentation": {"size": [24, 32], "counts": [0, 24, 744]}},
        {"id": 3, "image_id": 9, "category_id": 1, "bbox": [0, 0, 8, 8], "area": 12, "iscrowd": 0,
         "segmentation": {"size": [24, 32], "counts": "0h0P7"}},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
}  # fmt: skip
RESULTS = [
    {"image_id": 9, "category_id": 18, "bbox": [2.5, 3, 10, 8], "score": 0.5},
    {"image_id": 9, "category_id": 1, "bbox": [1, 1, 5.5, 8], "score": 1},
]
MASK_RESULTS = [{"image_id": 9, "category_id": 1, "segmentation": {"size": [24, 32], "counts": "0h0P7"}, "score": 0.5}]
CSV = b'photo,label,score,y_min,x_min,y_max,x_max\na.png,dog,0.5,1,2,10,20\n"b, c",cat,1e-3,0,0,5.5,6\n'
CLASSES = b"photo,label,score\na.png,dog,0.5\na.png,cat,0.25\n"


def _files(folder: pathlib.Path, **files: bytes) -> None:
    for name, data in files.items():
        path = folder.joinpath(*name.replace("__", ".").split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _each(*deeds: Callable[[], object]) -> None:
    for deed in deeds:
        try:
            deed()
        except (CvzooError, FileNotFoundError):  # annotations may name photos that are not there
            continue


def _all_of(dataset: object) -> None:
    for i in range(min(len(dataset), 3)):
        dataset[i]


def _voc(folder: pathlib.Path, data: bytes) -> None:
    files = {"Annotations/a.xml": data, "JPEGImages/a.png": PHOTO, "ImageSets/Main/train.txt": b"a\n"}
    _files(folder, **files)
    _each(
        lambda: read_voc_objects(folder / "Annotations" / "a.xml", one_based=True),
        lambda: examine_dataset(parse_data_spec(f"voc:{folder}")),
    )


def _coco(folder: pathlib.Path, data: bytes) -> None:
    _files(folder, **{"instances_val.json": data, "a.png": PHOTO})
    path = folder / "instances_val.json"
    _each(
        lambda: _all_of(COCOJSONBboxDataset(path, folder)),
        lambda: _all_of(COCOJSONInstanceSegmentationDataset(path, folder)),
        lambda: read_coco_ground_truth(path),
        lambda: read_coco_ground_truth(path, COCOParameters(iou_type="segm")),
        lambda: examine_dataset(parse_data_spec(f"coco:{path},photos={folder}")),
    )


def _yolo(folder: pathlib.Path, data: bytes) -> None:
    text, _, names = data.partition(b"\0\0")
    _files(folder, **{"images/a.png": PHOTO, "labels/a.txt": text, "data.yaml": names})
    _each(
        lambda: _all_of(YOLOBboxDataset(folder / "images", ("a", "b", "c"))),
        lambda: examine_dataset(parse_data_spec(f"yolo:{folder}")),
    )


def _sroie(folder: pathlib.Path, data: bytes) -> None:
    _files(folder, **{"img/a.png": PHOTO, "box/a.txt": data})
    _each(lambda: _all_of(SROIETextDataset(folder)), lambda: examine_dataset(parse_data_spec(f"sroie:{folder}")))


def _mnist(folder: pathlib.Path, data: bytes) -> None:
    labels = struct.pack(">II", 0x801, 2) + b"\1\2"
    for ending in (".gz", ""):
        _files(folder, **{f"t10k-images-idx3-ubyte{ending}": data, "t10k-labels-idx1-ubyte": labels})
        _each(lambda: _all_of(MNISTDataset(folder, "test")))
        (folder / f"t10k-images-idx3-ubyte{ending}").unlink()


def _cifar(folder: pathlib.Path, data: bytes) -> None:
    _files(folder, **{"cifar-10-batches-bin/test_batch.bin": data})
    _each(lambda: _all_of(CIFAR10Dataset(folder, "test")))


def _archive(folder: pathlib.Path, data: bytes) -> None:
    path = folder / "archive"
    path.write_bytes(data)
    _each(lambda: extract(path, folder / "out"))
    outside = {each.name for each in folder.iterdir()} - {"archive", "out"}
    if outside:
        raise AssertionError(f"unpacked beside its folder: {sorted(outside)}")


def _csv(folder: pathlib.Path, data: bytes) -> None:
    _files(folder, **{"a.csv": data})
    _each(lambda: read_csv_results(folder / "a.csv"), lambda: read_class_results(folder / "a.csv"))


def _coco_results(folder: pathlib.Path, data: bytes) -> None:
    path = folder / "a.json"
    path.write_bytes(data)
    kinds = [COCOParameters(iou_type=kind) for kind in ("bbox", "segm", "keypoints")]
    _each(*(lambda kind=kind: read_coco_detections(path, kind) for kind in kinds))


def _names(folder: pathlib.Path, data: bytes) -> None:
    path = folder / "names.txt"
    path.write_bytes(data)
    _each(lambda: read_label_names(path, 3))


def _mat() -> Sequence[bytes]:
    def element(kind: int, data: bytes) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    def matrix(kind: int, name: bytes, *parts: bytes) -> bytes:
        flags = element(6, struct.pack("<II", kind, 0))
        return element(14, flags + element(5, struct.pack("<ii", 1, 1)) + element(1, name) + b"".join(parts))

    numbers = element(14, element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", 2, 3)) + element(1, b"")
                      + element(2, bytes(6)))  # fmt: skip
    fields = element(5, struct.pack("<i", 8)) + element(1, b"Classes\0Segment\0")
    struct_ = matrix(2, b"GTinst", fields, numbers, numbers)
    head = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + struct.pack("<H", 0x100) + b"IM"
    packed = zlib.compress(struct_)
    return [head + struct_, head + struct.pack("<II", 15, len(packed)) + packed]


def _archives() -> Sequence[bytes]:
    found = []
    for mode in ("w", "w:gz"):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=mode) as archive:
            for name in ("a.txt", "b/c.txt"):
                info = tarfile.TarInfo(name)
                info.size = 5
                archive.addfile(info, io.BytesIO(b"hello"))
        found.append(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", b"hello" * 100)
    return [*found, file.getvalue()]


IDX = struct.pack(">IIII", 0x803, 2, 28, 28) + bytes(2 * 784)
JSON_TREE = (json_tree, json_tree, json_tree, *TEXT)

TARGETS = (
    Target(
        name="voc-xml", seeds=lambda: [VOC], run=_voc, mutations=(xml_tree, xml_tree, xml_head, *TEXT), ending=".xml"
    ),
    Target(
        name="coco-json",
        seeds=lambda: [json.dumps(COCO).encode()],
        run=_coco,
        mutations=JSON_TREE,
        ending=".json",
        memory=512 * MB,
    ),
    Target(
        name="yolo-text",
        seeds=lambda: [
            b"0 0.5 0.5 0.2 0.25\n2 .1 .1 .05 .05\n\0\0names: [a, 'b', \"c\"]\n",
            b"1 0 0 1 0 1 1\n\0\0names:\n  0: a\n",
        ],
        run=_yolo,
        mutations=TEXT,
        ending=".txt",
    ),
    Target(
        name="sroie-text", seeds=lambda: [b"3,5,30,5,30,9,3,9,TOTAL, 1\n"], run=_sroie, mutations=TEXT, ending=".txt"
    ),
    Target(name="mat", seeds=_mat, run=reads("a.mat", read_mat), mutations=BYTES, ending=".mat", memory=1200 * MB),
    Target(
        name="mnist",
        seeds=lambda: [IDX, gzip.compress(IDX)],
        run=_mnist,
        mutations=(behind(lambda data: 0, BYTES), *BYTES),
        memory=700 * MB,
    ),
    Target(name="cifar", seeds=lambda: [bytes(3073 * 2)], run=_cifar, mutations=BYTES, ending=".bin"),
    Target(name="archive", seeds=_archives, run=_archive, mutations=(in_zip(BYTES), *BYTES), memory=512 * MB),
    Target(name="label-names", seeds=lambda: [b"a\nb\nc\n", b"\xef\xbb\xbfa\n\nb\n c \n"], run=_names, mutations=TEXT),
    Target(name="csv-results", seeds=lambda: [CSV, CLASSES], run=_csv, mutations=TEXT, ending=".csv"),
    Target(
        name="voc-results",
        seeds=lambda: [b"a 0.5 1 2 10.5 20\nb 1e-3 0 0 5 6\n"],
        run=reads("comp4_det_test_dog.txt", lambda path: read_voc_results([path])),
        mutations=TEXT,
        ending=".txt",
    ),
    Target(
        name="coco-results",
        seeds=lambda: [json.dumps(each).encode() for each in (RESULTS, MASK_RESULTS)],
        run=_coco_results,
        mutations=JSON_TREE,
        ending=".json",
        memory=512 * MB,
    ),
)
