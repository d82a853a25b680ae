"""Reads and writes images: files, bytes, PIL images and arrays in, (3, H, W) float32 RGB in [0, 255] out."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.images.from_pil import from_array
    from cvzoo.images.list_image_files import IMAGE_ENDINGS, list_image_files
    from cvzoo.images.read_image import MAX_PIXELS, read_image
    from cvzoo.images.read_image_size import read_image_size
    from cvzoo.images.read_image_url import read_image_url
    from cvzoo.images.read_label import read_label
    from cvzoo.images.read_video import VideoFrame, VideoReader, read_video
    from cvzoo.images.write_image import encode_jpeg, encode_png, to_pil, write_image
    from cvzoo.images.write_video import VideoWriter

__all__ = [
    "encode_jpeg",
    "encode_png",
    "from_array",
    "IMAGE_ENDINGS",
    "list_image_files",
    "MAX_PIXELS",
    "read_image",
    "read_image_size",
    "read_image_url",
    "read_label",
    "read_video",
    "to_pil",
    "VideoFrame",
    "VideoReader",
    "VideoWriter",
    "write_image",
]

import_on_demand(__name__)
