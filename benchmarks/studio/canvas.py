"""Frames of the editor while one of many objects is dragged, in headless chromium."""

import argparse
import asyncio
import importlib.util
import itertools
import shutil
import subprocess
import time
from typing import Any

import numpy as np
from load import Served, times
from make_sets import HEIGHT, WIDTH
from of_data import set_of
from table import Rows, timed

_NAME = "drag with 2,000 boxes and 500 polygons"
_MOVES = 120
# the time in which a frame is drawn, and from one frame to the next
_WATCH = """
import("/static/canvas.js").then(({ View }) => {
  window.drawn = []; window.frames = [];
  const draw = View.prototype.drawNow;
  View.prototype.drawNow = function () {
    const start = performance.now();
    draw.call(this);
    this.context.getImageData(0, 0, 1, 1);  // waits until it is drawn
    window.drawn.push(performance.now() - start);
  };
  const tick = (now) => { window.frames.push(now); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
})
"""


def canvas(args: argparse.Namespace) -> Rows:
    """The time in which a frame is drawn during a drag; skipped without chromium or playwright."""
    chromium = shutil.which("chromium")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        return [{"row": _NAME, "skipped": "chromium or playwright is not installed"}]
    with Served(args.home) as served:
        dataset = asyncio.run(_objects(served))
        words = served.command("open")
        link = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]
        drawn, frames = _drag(chromium, link, f"http://127.0.0.1:{served.port}/data/{dataset}/images/0")
    between = times([(after - before) / 1e3 for before, after in itertools.pairwise(frames)])
    return [timed(_NAME, [each / 1e3 for each in drawn], between_frames=between)]


async def _objects(served: Served) -> str:
    """The data set, whose image 0 has 2,000 boxes, 500 polygons of 20 corners, and a box to be dragged."""
    dataset, client = await set_of(served), served.client()
    path = f"/api/v1/datasets/{dataset['id']}/images/0"
    item = (await client.ask(path)).json()
    rng, objects = np.random.default_rng(0), []
    for i in range(2500):
        height, width = (float(each) for each in rng.uniform(8, 60, 2).round(1))
        y, x = (float(each) for each in (rng.uniform(0, 1, 2) * (HEIGHT - height, WIDTH - width)).round(1))
        name = dataset["classes"][i % 9][0]
        each: dict[str, Any] = {"id": f"o{i}", "class": name, "box": [y, x, y + height, x + width]}
        if i >= 2000:
            angles = np.linspace(0, 2 * np.pi, 20, endpoint=False)
            corners = np.stack([x + width / 2 * (1 + np.cos(angles)), y + height / 2 * (1 + np.sin(angles))], 1)
            each["polygons"] = [corners.round(1).ravel().tolist()]
        objects.append(each)
    box = [HEIGHT / 2 - 3, WIDTH / 2 - 3, HEIGHT / 2 + 3, WIDTH / 2 + 3]  # the smallest, so that it is the one hit
    objects.append({"id": "dragged", "class": dataset["classes"][0][0], "box": box})
    body = {"edit_id": f"canvas-{time.time_ns()}", "base": item["first_rev"], "objects": objects}
    answer = await client.ask(f"{path}/labels", "PUT", body)
    assert answer.status == 200, answer.body
    client.close()
    return str(dataset["id"])


def _drag(chromium: str, link: str, address: str) -> tuple[list[float], list[float]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(link)
        page.wait_for_url(lambda url: "ticket" not in url)
        page.goto(address)
        page.wait_for_selector("#canvas[data-ready]")
        page.evaluate(_WATCH)
        box = page.locator("#canvas").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 2, y)
        page.wait_for_timeout(100)
        page.evaluate("window.drawn.length = window.frames.length = 0")
        for i in range(_MOVES):
            page.mouse.move(x + i % 60, y + i % 40)
            page.wait_for_timeout(16)
        drawn, frames = page.evaluate("window.drawn"), page.evaluate("window.frames")
        page.mouse.up()
        browser.close()
    return drawn, frames
