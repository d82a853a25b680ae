"""Files that somebody made to do harm: archives, images and annotations, by code and the same each time."""

import functools
import gzip
import io
import json
import struct
import tarfile
import zipfile
import zlib

import numpy as np
from PIL import Image, PngImagePlugin

FORMATS = {"jpg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WEBP", "bmp": "BMP", "tif": "TIFF", "ppm": "PPM"}


def image(ending="png", size=(8, 6), seed=0, **options):
    """The bytes of a sound image."""
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, {"jp2": "JPEG2000", "avif": "AVIF"}.get(ending) or FORMATS[ending], **options)
    return buffer.getvalue()


def patched(data, at, form, *values):
    """The bytes with numbers written over some of them. at: an offset, or what they follow"""
    found = bytearray(data)
    struct.pack_into(form, found, data.index(at) + len(at) if isinstance(at, bytes) else at, *values)
    return bytes(found)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width, height, *chunks, data=b"\0" * 100):
    """A PNG that says it has this size."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def huge(ending):
    """An image whose header says 10^9 pixels, or as many as the format can say."""
    data = image("jpg" if ending == "jpg" else ending, (64, 64)) if ending != "ppm" else b""
    if ending == "png":
        return png_of(60_000, 60_000)
    if ending == "ppm":
        return b"P6 40000 40000 255\n" + bytes(100)
    if ending == "jpg":
        return patched(data, b"\xff\xc0\x00\x11\x08", ">HH", 40_000, 40_000)
    if ending == "gif":
        return patched(patched(data, 6, "<HH", 40_000, 40_000), b",\0\0\0\0", "<HH", 40_000, 40_000)
    if ending == "bmp":
        return patched(data, 18, "<ii", 40_000, 40_000)
    if ending == "webp":  # lossless: 14 bits a side
        lossless = image("webp", (64, 64), lossless=True)
        return patched(lossless, b"VP8L", "<IBI", 100, 0x2F, 0x3FFF | 0x3FFF << 14)
    if ending == "jp2":
        found = patched(data, b"ihdr", ">II", 40_000, 40_000)
        return patched(found, b"\xff\x51", ">HHII", 47, 0, 40_000, 40_000)
    if ending == "avif":
        return patched(data, b"ispe", ">III", 0, 40_000, 40_000)
    # the tags of width and height of a TIFF are its first two
    return patched(data, b"\x00\x01\x04\x00\x01\x00\x00\x00", "<I", 40_000).replace(
        b"\x01\x01\x04\x00\x01\x00\x00\x00\x40\x00", b"\x01\x01\x04\x00\x01\x00\x00\x00\x40\x9c"
    )


def text_bomb(kind):
    """A PNG with a text or a profile of 100 MB."""
    keyword = b"icc\0\0" if kind == b"iCCP" else b"t\0\0"
    return png_of(8, 6, chunk(kind, keyword + zeros(100)), data=bytes(19 * 8))


def zeros(n):
    """n MB of zeros, compressed: one compressed MB n times, as to compress them all takes half a second."""
    compress = zlib.compressobj(9, wbits=-15)
    one = compress.compress(bytes(1 << 20)) + compress.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + one * n + b"\x03\x00" + struct.pack(">I", (n << 20) % 65521 << 16 | 1)


def looping_tiff():
    """A TIFF whose directory is followed by itself."""
    data = image("tif")
    at = struct.unpack_from("<I", data, 4)[0]
    n = struct.unpack_from("<H", data, at)[0]
    return patched(data, at + 2 + 12 * n, "<I", at)


def many_frames():
    """A GIF of a thousand frames."""
    buffer = io.BytesIO()
    frames = [Image.new("P", (8, 8), i % 256) for i in range(1000)]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


def with_text():
    """A sound PNG whose text is a script."""
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "<script>alert(1)</script>")
    return image("png", pnginfo=info)


def zipped(entries, kind=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(entries, form=tarfile.PAX_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, data, more in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in more.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def overlapping_zip(n=2000, size=1 << 20):
    """n entries that all are the same bytes of the file: 2 GB in 100 KB."""
    one = zipped([("0.png", bytes(size))])
    at = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry = one[at:end]
    entries = b"".join(entry.replace(b"0.png", f"{i:04x}.png".encode()[-5:]) for i in range(n))
    return one[:at] + entries + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, n, n, len(entries), at, 0)


def zip_of_zips(depth=5, width=4):
    """As 42.zip: archives in archives, the innermost of zeros."""
    data = zipped([("0.png", bytes(4 << 20))])
    return functools.reduce(lambda inner, _: zipped([(f"{i}.zip", inner) for i in range(width)]), range(depth), data)


def lying_tar():
    data = bytearray(tarred([("a.png", image(), {})]))
    data[124:136] = b"77777777777\0"
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def lying_zip():
    return patched(
        zipped([("a.png", image() * 50)]), zipped([("a.png", image() * 50)]).index(b"PK\x01\x02") + 24, "<I", 10
    )


def encrypted_zip():
    data = bytearray(zipped([("a.png", image())]))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def linked_zip():
    info = zipfile.ZipInfo("a.png")
    info.external_attr = 0o120777 << 16
    return zipped([(info, "/etc/passwd")])


def long_header_tar():
    """A tar whose extended header says that it has 8 GB."""
    data = bytearray(tarred([("x" * 300 + ".png", image(), {})], tarfile.GNU_FORMAT))
    data[124:136] = b"77777777777\0"
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def pax_tar(name):
    """A tar whose extended header gives another name than the plain one."""
    return tarred([("a.png", image(), {"pax_headers": {"path": name}})])


def coco(*, text=None, images=None, annotations=None, categories=None, name="a.png"):
    """A zip of a COCO file, and a sound image that it names. text: the whole file"""
    tree = {
        "images": images or [{"id": 1, "file_name": name, "height": 8, "width": 6}],
        "annotations": annotations or [],
        "categories": categories or [{"id": 1, "name": "cat"}],
    }
    body = json.dumps(tree) if text is None else text
    return zipped([("annotations/instances_all.json", body), ("images/a.png", image())])


def deep_coco(n):
    """A COCO file whose annotation has a value of n levels."""
    return json.dumps(
        {"images": [{"id": 1, "file_name": "a.png"}], "annotations": box(note=0), "categories": []}
    ).replace('"note": 0', f'"note": {"[" * n}{"]" * n}')


def box(**more):
    """An annotation of COCO's."""
    return [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 3, 3], "area": 9, "iscrowd": 0} | more]


def voc(xml):
    """A zip of VOC's layout with one annotation."""
    return zipped(
        [
            ("Annotations/a.xml", xml),
            ("JPEGImages/a.jpg", image("jpg")),
            ("ImageSets/Main/train.txt", "a\n"),
        ]
    )


def voc_xml(name="cat", head="", box="<xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax>"):
    """An annotation of VOC's."""
    return f"{head}<annotation><object><name>{name}</name><bndbox>{box}</bndbox></object></annotation>"


def laughs():
    """Entities of entities: a billion words."""
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return voc_xml("&l9;", f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "ha">{levels}]>')


def outside_entity():
    """An entity that is a file of the machine."""
    return voc_xml("&x;", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>')


def gzipped(data):
    return gzip.compress(data, mtime=0)
