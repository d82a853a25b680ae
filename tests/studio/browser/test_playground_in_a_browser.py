"""Flow 11: an image is chosen, pasted, and taken by the webcam; sliders decide which objects are drawn."""

import base64
import pathlib

import pytest

pytestmark = pytest.mark.slow
RECEIPT = pathlib.Path(__file__).parents[3] / "examples" / "receipt.png"
PASTE = """text => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "image.png", { type: "image/png" }));
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""
PIXELS = """() => {
    const c = document.querySelector("#results canvas");
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4) {
        const [r, g, b] = d.slice(i, i + 3);
        n += Math.max(r, g, b) - Math.min(r, g, b) > 80;
    }
    return n;
}"""


def shown(page):
    """How many objects the table lists."""
    return page.locator("#results tbody tr").count()


def test_a_detector_is_tried_on_an_image_that_is_chosen_or_pasted_and_sliders_count(pages, server):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/try?model=zoo:retinanet_text")
    page.wait_for_selector("#thresholds:not([hidden])")
    page.set_input_files("#file", RECEIPT)
    page.wait_for_selector("#results canvas:not([hidden])")
    page.locator("#results tbody tr").first.wait_for()
    n, drawn = shown(page), page.evaluate(PIXELS)
    assert n > 10
    assert drawn > 1000  # the boxes are colored, the receipt is grey
    page.focus("#score")
    page.keyboard.press("End")  # no score is 1
    page.wait_for_function("() => !document.querySelector('#results tbody tr')")
    assert page.evaluate(PIXELS) < drawn / 10
    page.keyboard.press("Home")
    page.wait_for_function(f"() => document.querySelectorAll('#results tbody tr').length > {n}")
    low = shown(page)
    page.focus("#nms")
    page.keyboard.press("End")  # overlapping boxes are kept
    page.wait_for_function(f"() => document.querySelectorAll('#results tbody tr').length >= {low}")
    page.reload()
    page.wait_for_selector("#thresholds:not([hidden])")
    page.evaluate(PASTE, base64.b64encode(RECEIPT.read_bytes()).decode())
    page.locator("#status", has_text="the pasted image").wait_for()
    page.locator("#results tbody tr").first.wait_for()
    assert shown(page) == n
    assert pages.faults == []


def test_the_webcam_is_predicted_on_until_it_is_stopped(pages, server, with_webcam):
    pages.chromium = with_webcam
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/try?model=zoo:retinanet_text")
    page.wait_for_selector("#thresholds:not([hidden])")
    page.click("#webcam")
    page.wait_for_selector("#results canvas:not([hidden])")
    first = page.evaluate("document.querySelector('#results canvas').toDataURL()")
    page.wait_for_function("first => document.querySelector('#results canvas').toDataURL() !== first", arg=first)
    page.click("#webcam")
    assert page.get_attribute("#webcam", "aria-pressed") == "false"
    assert page.is_hidden("#problem")
    assert pages.faults == []
