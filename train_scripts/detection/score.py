"""Evaluate a trained detector on the evaluation set of a data set, or on rendered documents not used in training.

python train_scripts/detection/score.py --model runs/text/best.safetensors --data rendered:500
python train_scripts/detection/score.py --model runs/text/best.safetensors --data sroie:ROOT --part val
"""

import argparse
import json

from rendered_documents import RenderedDocuments

from cvzoo.datasets import bbox_splits
from cvzoo.evaluations import DetectionCOCOEvaluator
from cvzoo.iterators import ProgressHook, SerialIterator
from cvzoo.serializers import load_model

UNSEEN = 2  # the seed of the evaluation set; training uses 0, its validation 1


def main(model: str, data: str, part: str) -> None:
    kind, _, n = data.partition(":")
    dataset = RenderedDocuments(int(n), seed=UNSEEN) if kind == "rendered" else bbox_splits(data)._asdict()[part]
    detector = load_model(model)
    detector.use_preset("evaluate")
    iterator = SerialIterator(dataset.slice[:, ("img", "bbox", "label")], 4, repeat=False, shuffle=False)
    evaluator = DetectionCOCOEvaluator(iterator, detector, hook=ProgressHook(len(dataset)))
    evaluator()
    print(json.dumps({"model": model, "data": data, "photos": len(dataset), **evaluator.result["coco_eval"].summary}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model file written by training")
    parser.add_argument("--data", required=True, help="rendered:N, or voc:ROOT, coco:A.json,B.json, sroie:ROOT ...")
    parser.add_argument("--part", default="val", choices=("train", "val"), help="of the data (default: %(default)s)")
    main(**vars(parser.parse_args()))
