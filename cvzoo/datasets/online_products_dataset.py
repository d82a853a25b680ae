"""Stanford Online Products, a data set for metric learning."""

import pathlib

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice, read_lines
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.labels.online_products import online_products_super_label_names
from cvzoo.typing.aliases import FilePath, Image

_URL = "http://ftp.cs.stanford.edu/cs/cvgl/Stanford_Online_Products.zip"


class OnlineProductsDataset(GetterDataset):
    """Stanford Online Products: images labeled with their product, for metric learning.

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder Stanford_Online_Products, or its parent
    split: "train" (59,551 images of 11,318 products) or "test" (60,502 images of 11,316 other products)
    img: (3, H, W) float32; label: () int32, the product, 0 .. 22633 over both splits
    super_label: () int32, 0 .. 11 (`online_products_super_label_names`)
    labels, super_labels: (N,) int32
    Source: Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding", CVPR 2016.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "test"))
        self.super_label_names = online_products_super_label_names
        root = pathlib.Path(data_dir)
        list_name = f"Ebay_{split}.txt"
        if data_dir == "auto" or not (root / list_name).is_file():
            root = provide(
                data_dir,
                "online_products",
                needs=f"Stanford_Online_Products/{list_name}",
                archives=(Archive(url=_URL),),
                licence="not stated",
                page="https://cvgl.stanford.edu/projects/lifted_struct/",
            )
            root = root / "Stanford_Online_Products"
        rows = [line.split(maxsplit=3) for line in read_lines(root / list_name)[1:]]  # the first line is a header
        try:
            numbers = np.array([[int(row[1]), int(row[2])] for row in rows], np.int32).reshape(-1, 2) - 1
            self._image_paths = [root / row[3] for row in rows]
        except (ValueError, IndexError) as error:
            raise DatasetError(
                f"{root / list_name} is malformed", expected="lines of image_id class_id super_class_id path"
            ) from error
        self.labels, self.super_labels = np.ascontiguousarray(numbers.T)
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.add_getter("super_label", self.super_labels.__getitem__)
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_paths[i])
