"""The file names of the images in a COCO annotation file."""

import pathlib

import msgspec

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.evaluations.coco.json_records import convert, loads
from cvzoo.typing.aliases import FilePath


class _Image(msgspec.Struct, gc=False):
    id: int
    file_name: str = ""
    coco_url: str = ""

    @property
    def name(self) -> str:
        # LVIS' files have the address of COCO's server only: its last folder is the split that has the image
        return self.file_name or "/".join(self.coco_url.split("/")[-2:])


class _File(msgspec.Struct):
    images: list[_Image]


def read_image_names(source: FilePath | bytes) -> dict[int, str]:
    """File names by image id ("" if the record has none), in the order of the records.

    source: a path, or the file's bytes
    Raises FileFormatError or ValueRangeError if it is not an annotation file.
    """
    text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
    try:
        return {image.id: image.name for image in msgspec.json.decode(text, type=_File).images}
    except msgspec.DecodeError as error:
        if b"NaN" in text:  # msgspec does not accept NaN, which many programs write
            file = convert(loads(text, "ground truth"), _File, "ground truth")
            return {image.id: image.name for image in file.images}
        name = "ground truth" if isinstance(source, bytes) else source
        raise FileFormatError(f"{name} is not a COCO annotation file: {error}") from error
