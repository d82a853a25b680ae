"""torchvision's default training of a detector on a Pascal VOC folder, from random weights; cvzoo scores its boxes.

    OMP_NUM_THREADS=1 python benchmarks/peer_training.py VOC_ROOT --out runs/peer
    cvzoo evaluate --gt voc:VOC_ROOT --split val --results runs/peer/val.csv --metric coco

It runs in an environment with torch and torchvision, without cvzoo. The settings are those that torchvision's reference
script for detection recommends for one process: 26 epochs, batches of 2, SGD of 0.02 / 8 with momentum 0.9 and weight
decay 1e-4, a tenth after epochs 16 and 22, warm-up from a thousandth over the first epoch, horizontal flips, batches of
images of similar shape (which BCCD's all are). Where we differ: no worker processes load images, since one thread is
compared, and weights are random, since none can be compared otherwise. Every epoch ends with a checkpoint, from which
the same command resumes.
"""

import argparse
import csv
import json
import pathlib
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import torch
import torchvision
from PIL import Image

EPOCHS, STEPS, BATCH_SIZE, LR = 26, (16, 22), 2, 0.02 / 8


def read_split(root, name, label_names):
    """(path, boxes, labels from 1) of the split's images; boxes (R, 4) x_min y_min x_max y_max, none without area."""
    examples = []
    for stem in (root / f"ImageSets/Main/{name}.txt").read_text().split():
        boxes, labels = [], []
        for each in ElementTree.parse(root / f"Annotations/{stem}.xml").iter("object"):
            x0, y0, x1, y1 = (float(each.findtext(f"bndbox/{side}")) for side in ("xmin", "ymin", "xmax", "ymax"))
            if x1 > x0 and y1 > y0:
                boxes.append((x0 - 1, y0 - 1, x1, y1))
                labels.append(1 + label_names.index(each.findtext("name")))
        (path,) = root.glob(f"JPEGImages/{stem}.*")
        boxes = np.array(boxes, np.float32).reshape(-1, 4)
        examples.append((path, torch.from_numpy(boxes), torch.tensor(labels, dtype=torch.int64)))
    return examples


def read_image(path):
    """(3, H, W) float32 in [0, 1]."""
    return torch.from_numpy(np.array(Image.open(path).convert("RGB"))).permute(2, 0, 1).float() / 255


def drawn_example(example):
    """(image, target), flipped with probability 1/2."""
    path, boxes, labels = example
    img, boxes = read_image(path), boxes.clone()
    if torch.rand(1).item() < 0.5:
        img = img.flip(2)
        boxes[:, [0, 2]] = img.shape[2] - boxes[:, [2, 0]]
    return img, {"boxes": boxes, "labels": labels}


def train_epoch(model, optimizer, schedule, examples, epoch):
    """The mean loss of an epoch."""
    model.train()
    order = torch.randperm(len(examples)).tolist()
    batches = [order[i : i + BATCH_SIZE] for i in range(0, len(order), BATCH_SIZE)]
    warmup = None
    if epoch == 0:
        n = min(1000, len(batches) - 1)
        warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 1000, total_iters=n)
    losses = []
    for batch in batches:
        imgs, targets = zip(*(drawn_example(examples[i]) for i in batch))
        loss = sum(model(list(imgs), list(targets)).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if warmup is not None:
            warmup.step()
    schedule.step()
    return sum(losses) / len(losses)


@torch.inference_mode()
def write_boxes(model, examples, label_names, path):
    """The detections as a .csv that cvzoo reads."""
    model.eval()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["photo", "label", "score", "y_min", "x_min", "y_max", "x_max"])
        for photo, _, _ in examples:
            (found,) = model([read_image(photo)])
            for box, label, score in zip(found["boxes"].tolist(), found["labels"].tolist(), found["scores"].tolist()):
                x0, y0, x1, y1 = box
                writer.writerow([photo.name, label_names[label - 1], score, y0, x0, y1, x1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--model", default="fasterrcnn_mobilenet_v3_large_320_fpn")
    parser.add_argument("--label-names", nargs="+", default=["Platelets", "RBC", "WBC"])
    parser.add_argument("--stop", type=int, default=EPOCHS, help="stop after this epoch of the 26; later ones go on")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    train, val, test = (read_split(args.root, name, args.label_names) for name in ("train", "val", "test"))
    make = torchvision.models.get_model
    model = make(args.model, weights=None, weights_backbone=None, num_classes=1 + len(args.label_names))
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=list(STEPS), gamma=0.1)
    checkpoint, begin, cpu, loss = args.out / "checkpoint.pt", 0, 0.0, None
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        begin, cpu, loss = state["epoch"], state["cpu_seconds"], state["loss"]
        torch.set_rng_state(state["rng"])
        for each in ("model", "optimizer", "schedule"):
            {"model": model, "optimizer": optimizer, "schedule": schedule}[each].load_state_dict(state[each])
    for epoch in range(begin, args.stop):
        start = time.process_time()
        loss = train_epoch(model, optimizer, schedule, train, epoch)
        cpu += time.process_time() - start
        print(f"epoch {epoch + 1}: loss {loss:.4f}, {cpu:.0f} CPU seconds", flush=True)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
        torch.save(
            state | {"epoch": epoch + 1, "loss": loss, "cpu_seconds": cpu, "rng": torch.get_rng_state()}, checkpoint
        )
    for name, examples in (("val", val), ("test", test)):
        write_boxes(model, examples, args.label_names, args.out / f"{name}.csv")
    facts = {
        "model": args.model,
        "epochs": max(begin, args.stop),
        "seed": args.seed,
        "cpu_seconds": round(cpu),
        "loss": loss,
    }
    facts |= {"torch": torch.__version__, "torchvision": torchvision.__version__}
    facts["parameters"] = sum(each.numel() for each in model.parameters())
    (args.out / "facts.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
