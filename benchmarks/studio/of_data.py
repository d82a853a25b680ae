"""The rows about data sets: import, explorer, edits, versions, thumbnails."""

import argparse
import asyncio
import pathlib
import tempfile
import time
import urllib.parse

from load import Client, Served, memory_mb, repeated, times, tree_of
from table import SET, Rows, row, timed

from cvzoo.studio.photos.imaging import Imaging
from cvzoo.studio.photos.store import ImageStore


def import_set(args: argparse.Namespace) -> Rows:
    """Import of the set by REST, until it is ready; memory of the processes that do it, together."""
    with Served(args.home) as served:
        begin, peak, shared_peak, server_peak = time.perf_counter(), 0.0, 0.0, 0.0
        dataset = asyncio.run(ask(served, "/api/v1/datasets", "POST", {
            "name": f"imported {time.time_ns()}", "source": {"spec": f"coco:{args.sets / 'images'}"},
        }))  # fmt: skip
        phases: dict[str, float] = {}
        while dataset["state"] == "importing":
            time.sleep(0.5)
            dataset = asyncio.run(ask(served, f"/api/v1/datasets/{dataset['id']}"))
            for task in dataset["tasks"]:
                phases.setdefault(task["phase"], round(time.perf_counter() - begin, 1))
            children = [pid for pid in tree_of(served.pid) if pid != served.pid]
            peak = max(peak, memory_mb(children))
            shared_peak = max(shared_peak, memory_mb(children, "Pss:", "smaps_rollup"))
            server_peak = max(server_peak, memory_mb([served.pid]))
        seconds = time.perf_counter() - begin
        assert dataset["state"] == "ready", dataset["detail"]
    n = dataset["n_image"]
    more = {"n_image": n, "n_object": dataset["n_object"], "images_per_s": round(n / seconds, 1)}
    return [
        row("import", seconds, **more, phases_begin_s=phases),
        row("memory of the import", peak, shared_once_mb=round(shared_peak, 1), server_mb=round(server_peak, 1)),
    ]


async def ask(served: Served, path: str, method: str = "GET", body: object = None) -> dict:
    client = served.client()
    answer = await client.ask(path, method, body)
    client.close()
    assert answer.status < 300, (path, answer.status, answer.body[:300])
    return dict(answer.json())


async def set_of(served: Served) -> dict:
    for each in (await ask(served, "/api/v1/datasets"))["items"]:
        if each["name"] == SET:
            return await ask(served, f"/api/v1/datasets/{each['id']}")
    raise SystemExit("the home has no imported set: measure the group import first")


async def sample_version(served: Served, n: int = 80) -> str:
    """The specification of a version of n drawn receipts."""
    client = served.client()
    body = {"name": f"sample {time.time_ns()}", "source": {"sample": n}}
    dataset = (await client.ask("/api/v1/datasets", "POST", body)).json()
    while dataset["state"] == "importing":
        await asyncio.sleep(0.2)
        dataset = (await client.ask(f"/api/v1/datasets/{dataset['id']}")).json()
    version, _, _ = await _version(client, f"/api/v1/datasets/{dataset['id']}", "first")
    data = (await client.ask(f"/api/v1/versions/{version}")).json()["data"]
    client.close()
    return str(data)


def explorer(args: argparse.Namespace) -> Rows:
    """Pages, filters, facets and the overview of the set."""
    with Served(args.home) as served:
        return asyncio.run(_explorer(served, args.n))


async def _explorer(served: Served, n: int) -> Rows:
    dataset, client = await set_of(served), served.client()
    base, page = f"/api/v1/datasets/{dataset['id']}/images", f"/data/{dataset['id']}/images"
    total, names = dataset["n_image"], [each[0] for each in dataset["classes"] if each[1]]
    step = max(total // 50, 1)
    known = {"n_image": total}
    queries = {
        "page of 100 images": lambda i: f"?after={i % 50 * step - 1}",
        "page of 100 images of a class": lambda i: f"?class={_quoted(names[i % len(names)])}&after={i % 7 * step}",
        "page of 100 images of two classes": lambda i: (
            f"?class={_quoted(names[i % len(names)])}&class={_quoted(names[(i * 7 + 3) % len(names)])}"
        ),
        "page of 100 images by a part of the name": lambda i: f"?text={('X51', 'Blood', '7_', '0006', 'none')[i % 5]}",
    }
    rows = []
    for name, query in queries.items():
        seconds = await repeated(served, client, lambda i, query=query: base + query(i), n)
        html = await repeated(served, client, lambda i, query=query: page + query(i), n)
        rows.append(timed(name, seconds, **known, as_page=times(html)))
    facets = await repeated(served, client, lambda i: f"/api/v1/datasets/{dataset['id']}", n)
    rows.append(timed("facets", facets, **known))
    rows.append(timed("overview page", await repeated(served, client, lambda i: f"/data/{dataset['id']}", n), **known))
    client.close()
    return rows


def _quoted(text: str) -> str:
    return urllib.parse.quote(text)


def edit(args: argparse.Namespace) -> Rows:
    """Edits of labels, each of another image, durable when they are answered."""
    with Served(args.home) as served:
        return asyncio.run(_edit(served, args.n))


async def _edit(served: Served, n: int) -> Rows:
    dataset, client = await set_of(served), served.client()
    base = f"/api/v1/datasets/{dataset['id']}/images"
    stamp, seconds = time.time_ns(), []
    for i in range(n):
        ordinal = (stamp + i * 997) % dataset["n_image"]
        item = (await client.ask(f"{base}/{ordinal}")).json()
        box = {"id": f"b{stamp}{i}"[-10:], "class": dataset["classes"][i % 3][0], "box": [5, 6, 70 + i % 50, 80]}
        body = {"edit_id": f"{stamp}-{i}", "base": item["first_rev"], "objects": [*item["labels"], box]}
        answer = await client.ask(f"{base}/{ordinal}/labels", "PUT", body)
        assert answer.status == 200, answer.body
        seconds.append(answer.seconds)
    client.close()
    return [timed("label edit", seconds, n_image=dataset["n_image"])]


def versions(args: argparse.Namespace) -> Rows:
    """A version of the whole set; the difference between it and one with 1,000 images changed."""
    with Served(args.home) as served:
        return asyncio.run(_versions(served, args.n))


async def _versions(served: Served, n: int) -> Rows:
    dataset, client = await set_of(served), served.client()
    base = f"/api/v1/datasets/{dataset['id']}"
    if dataset["n_open_error"]:
        found = (await client.ask(f"{base}/findings")).json()["counts"]
        for kind in (each["kind"] for each in found if each["severity"] == "error"):
            await client.ask(f"{base}/findings", "PATCH", {"kind": kind, "reason": "drawn at random"})
    first, asked, seconds = await _version(client, base, "first")
    wanted = {"ordinals": list(range(0, min(20_000, dataset["n_image"]), 20)), "split": "test"}
    changed = (await client.ask(f"{base}/images", "PATCH", wanted)).json()["n"]
    if not changed:
        changed = (await client.ask(f"{base}/images", "PATCH", {**wanted, "split": "train"})).json()["n"]
    second, _, _ = await _version(client, base, "second")
    path = f"/api/v1/versions/{second}/diff?other={first}"
    found = (await client.ask(path)).json()
    times_of = await repeated(served, client, lambda i: path, n)
    client.close()
    more = {"n_image": dataset["n_image"], "answer_ms": round(asked * 1e3, 1)}
    return [
        row("freeze", seconds, **more),
        timed("difference of 1,000 changes", times_of, n_changed=changed, n_found=found["n"]),
    ]


async def _version(client: Client, base: str, name: str) -> tuple[str, float, float]:
    begin = time.perf_counter()
    answer = await client.ask(f"{base}/versions", "POST", {"name": name})
    asked = time.perf_counter() - begin
    assert answer.status in (200, 202), answer.body
    version = answer.json()
    while version["state"] == "making":
        await asyncio.sleep(0.1)
        version = (await client.ask(f"/api/v1/versions/{version['id']}")).json()
    assert version["state"] == "ready", version
    return version["id"], asked, time.perf_counter() - begin


def thumbnails(args: argparse.Namespace) -> Rows:
    """Thumbnails made by one imaging process, and served."""
    paths = sorted((args.sets / "images" / "images").iterdir())[: 4 * args.n]
    with tempfile.TemporaryDirectory() as folder:
        store = ImageStore(pathlib.Path(folder))
        names = [(store.add(path), path.name) for path in paths]
        with Imaging(store) as imaging:
            imaging.size(*names[0])
            begin = time.perf_counter()
            for sha256, name in names[1:]:
                imaging.size(sha256, name)
            made = (len(names) - 1) / (time.perf_counter() - begin)
    with Served(args.home) as served:
        return [row("thumbnails made, one core", made, n=len(paths)), *asyncio.run(_served(served, args.n))]


async def _served(served: Served, n: int) -> Rows:
    dataset = await set_of(served)
    clients = [served.client() for _ in range(6)]

    async def screen(after: int) -> tuple[float, int]:
        found = (await clients[0].ask(f"/api/v1/datasets/{dataset['id']}/images?after={after}")).json()["items"]
        paths = [f"/api/v1/images/{each['sha256']}/thumbnail.jpg" for each in found]
        begin = time.perf_counter()

        async def work(client: Client) -> None:
            while paths:
                answer = await client.ask(paths.pop())
                assert answer.status == 200, answer.status

        await asyncio.gather(*map(work, clients))
        seconds = time.perf_counter() - begin
        await asyncio.sleep(0.2)  # more than 600 images a second are refused
        return seconds, len(found)

    step = max(dataset["n_image"] // (n // 4 + 2), 100)
    found = [await screen(i * step) for i in range(n // 4)]
    for client in clients:
        client.close()
    rate = sum(each[1] for each in found) / sum(each[0] for each in found)
    return [
        row("thumbnails served over 6 connections", rate, n=sum(each[1] for each in found)),
        timed("screen of 100 thumbnails", [each[0] for each in found]),
    ]
