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


def read_image_names(source: FilePath | bytes, *, name: str = "ground truth") -> dict[int, str]:
    """File names by image id ("" if the record has none), in the order of the records.

    source: a path, or the file's bytes
    name: of the bytes in errors
    Raises FileFormatError or ValueRangeError if it is not an annotation file.
    """
    text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
    try:
        return {image.id: image.name for image in msgspec.json.decode(text, type=_File).images}
    except msgspec.DecodeError as error:
        if b"NaN" in text:  # msgspec does not accept NaN, which many programs write
            file = convert(loads(text, name), _File, name)
            return {image.id: image.name for image in file.images}
        where = name if isinstance(source, bytes) else source
        raise FileFormatError(f"{where} is not a COCO annotation file: {error}") from error
