"""Draw a contact sheet of rendered documents with the boxes around their text.

python train_scripts/detection/show_rendered_documents.py sheet.png -n 16 --seed 0
"""

import argparse

from rendered_documents import RenderedDocuments

from cvzoo.images import write_image
from cvzoo.visualizations import contact_sheet, draw_bbox


def main(out: str, n: int, seed: int, side: int) -> None:
    dataset = RenderedDocuments(n, seed=seed, size=side)
    imgs = [draw_bbox(img, bbox) for img, bbox, _, _ in dataset]
    write_image(contact_sheet(imgs, [name for *_, name in dataset], side=side), out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the picture: .png .jpg .webp or .bmp")
    parser.add_argument("-n", type=int, default=16, help="how many documents (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the documents (default: %(default)s)")
    parser.add_argument(
        "--side", type=int, default=400, help="a document's longer side in pixels (default: %(default)s)"
    )
    main(**vars(parser.parse_args()))
