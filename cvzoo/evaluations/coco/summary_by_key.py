"""A COCO result in ChainerCV's format."""

from typing import Any

import numpy as np

from cvzoo.evaluations.coco.result import COCOResult


def summary_by_key(result: COCOResult, *, areas: bool) -> dict:
    """Arrays by class (`ap/...`, `ar/...`) and their means (`map/...`, `mar/...`), `coco_eval`, `existent_labels`.

    areas: whether areas were given, and so the scores of small, medium and large objects are meaningful

    Arrays are indexed by label, up to the highest one; NaN for labels without objects. Means are over the other labels,
    NaN without any.
    """
    parameters, labels = result.parameters, result.cat_ids[result.cat_ids >= 0]
    thrs = parameters.iou_thrs
    whole, last = f"{thrs[0]:.2f}:{thrs[-1]:.2f}", parameters.max_dets[-1]
    rows: list[tuple[str, float | None, str, int]] = [("ap", None, "all", last)]
    rows += [("ap", thr, "all", last) for thr in (0.5, 0.75) if thr in thrs]
    rows += [("ar", None, "all", n) for n in parameters.max_dets]
    if areas:
        rows += [(kind, None, area, last) for kind in ("ap", "ar") for area in parameters.area_rng_lbl if area != "all"]
    out: dict[str, Any] = {}
    for kind, thr, area, max_det in rows:
        if area not in parameters.area_rng_lbl:
            continue
        of_classes = result.average_precision if kind == "ap" else result.average_recall
        values = np.full(labels.max() + 1 if labels.size else 0, np.nan)
        values[labels] = of_classes(iou_thr=thr, area=area, max_det=max_det)[result.cat_ids >= 0]
        key = f"iou={whole if thr is None else f'{thr:.2f}'}/area={area}/max_dets={max_det}"
        known = values[~np.isnan(values)]
        out[f"{kind}/{key}"] = values
        out[f"m{kind}/{key}"] = float(known.mean()) if known.size else float("nan")
    out["coco_eval"] = result
    out["existent_labels"] = labels
    return out
