"""The data set of rendered documents."""

import dataclasses
import hashlib
from collections.abc import Callable

import numpy as np
import PIL
from PIL import features

from cvzoo.datasets import GetterDataset
from cvzoo.errors import ValueRangeError
from rendered_documents.desk import on_desk
from rendered_documents.fonts import fonts_of, installed_fonts
from rendered_documents.form import draw_form
from rendered_documents.invoice import draw_invoice
from rendered_documents.receipt import draw_receipt
from rendered_documents.scan import scan
from rendered_documents.text_page import draw_text_page

rendered_documents_label_names = ("text",)
KINDS = ("receipt", "invoice", "form", "page")
_GENERATION = 1  # incremented when the same (seed, index) renders another document


@dataclasses.dataclass(frozen=True)
class _Kind:
    """draw: renders a sheet; share: fraction of all examples; flat: probability of a scan instead of a camera image."""

    draw: Callable
    share: float
    flat: float


_HOW = {
    "receipt": _Kind(draw_receipt, 0.6, 0.75),
    "invoice": _Kind(draw_invoice, 0.16, 0.5),
    "form": _Kind(draw_form, 0.1, 0.5),
    "page": _Kind(draw_text_page, 0.14, 0.5),
}


class RenderedDocuments(GetterDataset):
    """Rendered images of documents with a box around each run of text.

    n: how many examples; seed: a non-negative int. Example i depends on (seed, i), on the fonts and on the versions of
        Pillow and FreeType, see `fingerprint`, not on n or on earlier reads
    size: pixels of the longer side; None: random between 500 and 1200
    kinds: some of "receipt", "invoice", "form", "page"; 60 % are receipts if these are included
    fonts: paths of font files; None: those of the machine and of Python packages. The faces of this package and the
        one inside Pillow are always included

    img: (3, H, W) float32 of whole numbers 0..255; bbox: (R, 4) float32, close around the ink; label: (R,) int32, all
    0; name: a str; on demand (`keys`): quad: (R, 4, 2) float32, (y, x) of top left, top right, bottom right, bottom
    left, parallel to the text, which may extend beyond the image
    A run is words of a line separated by single spaces; columns have separate boxes. Rules made of
    characters, logos and frames of stamps are not text.
    """

    def __init__(self, n, seed=0, *, size=None, kinds=KINDS, fonts=None):
        super().__init__()
        if n < 0 or seed < 0 or (size is not None and size < 64):
            raise ValueRangeError(
                "RenderedDocuments: a number is out of range",
                expected="n >= 0, seed >= 0, size >= 64",
                got=f"n={n}, seed={seed}, size={size}",
            )
        if isinstance(kinds, str) or not kinds or set(kinds) - set(KINDS) or len(set(kinds)) < len(kinds):
            raise ValueRangeError(
                "RenderedDocuments: unknown kinds, or one twice", expected=f"some of {', '.join(KINDS)}", got=kinds
            )
        self.label_names = rendered_documents_label_names
        self._n, self._seed, self._size = int(n), int(seed), size
        self._kinds = tuple(kind for kind in KINDS if kind in kinds)
        self._fonts = installed_fonts() if fonts is None else fonts_of(fonts)
        self.add_getter(("img", "bbox", "label", "quad"), self._render)
        self.add_getter("name", self._name)
        self.keys = ("img", "bbox", "label", "name")
        self.name_examples(self._name)

    def __len__(self):
        return self._n

    @property
    def fingerprint(self):
        """A hexadecimal SHA-256 of the fonts and versions that examples depend on besides seed and index."""
        digest = hashlib.sha256(f"{_GENERATION} {PIL.__version__} {features.version('freetype2')}".encode())
        for face in self._fonts.faces():
            digest.update(face.fingerprint())
        return digest.hexdigest()

    def _name(self, i):
        return f"rendered-{self._seed}-{i}"

    def _render(self, i):
        rng = np.random.default_rng((self._seed, i))
        long = int(rng.integers(500, 1201)) if self._size is None else self._size
        shares = np.cumsum([_HOW[kind].share for kind in self._kinds])
        drawn = _HOW[self._kinds[int(np.searchsorted(shares[:-1] / shares[-1], rng.random(), side="right"))]]
        sheet = drawn.draw(rng, self._fonts)
        img, bbox, quad = (scan if rng.random() < drawn.flat else on_desk)(rng, sheet, long)
        return img.transpose(2, 0, 1).astype(np.float32), bbox, np.zeros(len(bbox), np.int32), quad
