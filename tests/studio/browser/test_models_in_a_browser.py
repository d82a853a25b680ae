"""What a person does with models: looks at them, tries one, evaluates it, looks at what went wrong."""

import pathlib

import pytest
from PIL import Image

pytestmark = pytest.mark.slow
COLORS = {"cat": (220, 40, 40), "dog": (40, 40, 220)}


@pytest.fixture
def data(tmp_path):
    """Images of two classes."""
    for split, name, i in ((s, n, i) for s in ("train", "val") for n in COLORS for i in range(3)):
        path = tmp_path / "data" / split / name / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32), COLORS[name]).save(path)
    return tmp_path / "data"


@pytest.fixture
def run(watched, data):
    """The best model of the run "first" is a classifier; its data are real."""
    from cvzoo.config import set_seed
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
    from cvzoo.serializers.model_file import save_model

    set_seed(0)
    save_model(watched / "first" / "best.safetensors", CIFARResNet(20, label_names=("cat", "dog")))
    config = watched / "first" / "config.json"
    config.write_text(config.read_text().replace("voc:shapes", f"folder:{data}"))
    return watched / "first"


def test_a_model_is_tried_evaluated_and_its_errors_are_looked_at(pages, server, run, run_id, data, violations):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/models")
    page.get_by_role("link", name="Try first").click()
    page.wait_for_selector("#validation:not([hidden])")
    page.click("#next")
    page.wait_for_selector("#results canvas:not([hidden])")
    assert page.inner_text("#n-image") == "of 6"
    assert "annotated: cat" in page.inner_text("#results figcaption")
    red = page.evaluate(
        "() => { const c = document.querySelector('#results canvas');"
        " return [...c.getContext('2d').getImageData(16, 16, 1, 1).data] }"
    )
    assert red[:3] == list(COLORS["cat"])
    page.set_input_files("#file", str(data / "val" / "dog" / "0.png"))
    page.locator("#status", has_text="0.png, 32 × 32").wait_for()
    page.select_option("#second", label="first")  # beside itself
    page.locator("#results canvas:not([hidden])").nth(1).wait_for()
    broken = pathlib.Path(data / "broken.png")
    broken.write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    page.set_input_files("#file", str(broken))
    page.wait_for_selector("#problem:not([hidden])")
    assert "broken.png" in page.inner_text("#problem")
    assert page.locator("#results canvas:not([hidden])").count() == 0
    assert page.locator("#results figcaption").all_inner_texts() == ["first", "first"]  # nothing of the image before
    page.set_input_files("#file", {"name": "empty.png", "mimeType": "image/png", "buffer": b""})
    page.locator("#problem", has_text="empty.png is empty").wait_for()

    page.goto(f"{server.address}/evaluations?model={run_id}")
    assert page.input_value("#data") == f"folder:{data}"
    page.select_option("#model", label="cats/second")
    assert page.input_value("#data") == "voc:shapes"
    page.select_option("#model", label="first")
    assert page.input_value("#data") == f"folder:{data}"
    page.click("button.primary")
    page.wait_for_selector("#verdicts[aria-busy=false]")
    evaluation = page.url
    assert page.locator("#verdicts li").count() == 3  # one of two classes is always wrong
    page.locator("#verdicts").scroll_into_view_if_needed()  # images are read when they come into view
    page.locator("#verdicts canvas[width='32']").first.wait_for()
    page.locator("#verdicts a", has_text="Try").first.click()
    page.wait_for_selector("#results canvas:not([hidden])")
    pages.faults = [each for each in pages.faults if "415" not in each]  # of the broken image
    assert pages.faults == []
    for path in (f"/models/{run_id}", "/models", "/try", "/evaluations", evaluation.removeprefix(server.address)):
        pages.look(path)
    pages.look(f"/models/{run_id}/network", act=weights)


def weights(page):
    """The network with the weights of a layer."""
    page.locator("#layers tbody button").first.click()
    page.get_by_role("img", name="Histogram of Weights W").wait_for()


def test_a_model_is_tried_and_evaluated_by_keyboard_alone(pages, server, run, run_id, data, tab_to):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/try?model={run_id}")
    page.wait_for_selector("#validation:not([hidden])")
    with page.expect_file_chooser() as chooser:  # a key pressed at once might come before the browser knows of it
        tab_to(page, "#file")
        page.keyboard.press("Enter")
    chooser.value.set_files(data / "val" / "dog" / "0.png")
    page.locator("#status", has_text="0.png, 32 × 32").wait_for()
    tab_to(page, "#next")
    page.keyboard.press("Enter")
    page.locator("#results figcaption", has_text="annotated: cat").wait_for()
    tab_to(page, "#classes summary")
    page.keyboard.press("Enter")
    tab_to(page, "#class-list input")
    page.keyboard.press("Space")
    assert page.locator("#results tbody tr").count() == 1
    page.goto(f"{server.address}/evaluations?model={run_id}")
    tab_to(page, "button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdicts[aria-busy=false]")
    tab_to(page, "#label")
    page.keyboard.type("dog")
    page.wait_for_url("**label=dog")
    page.wait_for_selector("#verdicts[aria-busy=false]")
    tab_to(page, "#verdicts a[aria-label^=Try]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results canvas:not([hidden])")
    assert pages.faults == []


def test_the_webcam_is_predicted_on_and_stopped(pages, server, run, run_id):
    page = pages.sign_in(server.link)
    page.goto(f"{server.address}/try?model={run_id}")
    page.wait_for_selector("#validation:not([hidden])")
    page.click("#webcam")
    page.wait_for_selector("#problem:not([hidden])")  # this machine has none
    assert "webcam" in page.inner_text("#problem")
    assert page.get_attribute("#webcam", "aria-pressed") == "false"


def test_layers_are_looked_at_by_keyboard_alone(pages, server, run, run_id, data, tab_to, violations):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/models/{run_id}")
    tab_to(page, "a[href$='/network']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#network:not([hidden])")
    assert "20 layers" not in page.inner_text("#summary")
    n = page.locator("#layers tbody tr").count()
    assert page.inner_text("#summary").startswith(f"{n} layers, ")
    assert page.locator("#arcs .arc").count() >= n - 1
    tab_to(page, "#layers tbody button")
    page.keyboard.press("Enter")
    page.get_by_role("img", name="Histogram of Weights W").wait_for()
    assert page.inner_text("#h-layer") == "conv1/conv"
    assert page.evaluate("document.activeElement.id") == "h-layer"
    tab_to(page, "#filter")
    page.keyboard.type("stage3 bn")
    assert page.locator("#layers tbody tr:visible").count() == 6
    page.set_input_files("#file", str(data / "val" / "dog" / "0.png"))
    page.get_by_role("img", name="Outputs of conv1/conv for 0.png: 16 of 16 channels").wait_for()
    assert page.evaluate("document.querySelector('.maps').naturalWidth") == 134
    page.click("#validation")
    page.get_by_role("img", name="for the first validation image").wait_for()
    assert pages.faults == []
    page.fill("#filter", "")
    assert violations(page) == []


def test_a_folder_is_predicted_on_and_the_result_is_downloaded(pages, server, run, run_id, data, violations):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/models/{run_id}")
    page.fill("#predicted", str(data / "val" / "dog"))
    page.select_option("#predicted-form", "csv")
    page.get_by_role("button", name="Predict").click()
    page.locator(".badge", has_text="succeeded").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="results.csv").click()
    assert pathlib.Path(download.value.path()).read_text().count("dog/") == 6  # of each image both classes
    assert violations(page) == []
    assert pages.faults == []
    pages.look(page.url.removeprefix(server.address))


def test_a_model_that_was_trained_elsewhere_is_uploaded_and_named(pages, server, run, data, rest):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}/models")
    page.click("text=Upload a model")
    page.set_input_files("#model-file", str(data / "val" / "dog" / "0.png"))
    page.click("#upload-model button")
    page.locator("#upload-told", has_text="is no model of cvzoo").wait_for()
    page.fill("#model-name", "")
    page.set_input_files("#model-file", str(run / "best.safetensors"))
    assert page.input_value("#model-name") == "best"
    page.fill("#model-name", "from elsewhere")
    page.click("#upload-model button")
    page.wait_for_url("**/models/md_*")
    page.fill("#alias", "production")
    page.click("text=Give")
    page.locator("span", has_text="@production").first.wait_for()
    own = page.url.removeprefix(server.address)
    image = (data / "val" / "cat" / "1.png").read_bytes()
    address = f"{server.address}/api/v1/predict?model=@production"
    answer = page.request.post(address, data=image, headers={"sec-fetch-site": "same-origin"})
    assert answer.ok, answer.text()
    assert {each["name"] for each in answer.json()["classes"]} == {"cat", "dog"}
    page.goto(f"{server.address}/try?model=@production")
    assert page.locator("#model option:checked").inner_text() == "from elsewhere @production"
    pages.faults = [fault for fault in pages.faults if "415" not in fault]  # of the image that is no model
    pages.look(own)


def test_predictions_of_folders_show_what_is_right(pages, server, run, run_id, data, rest):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    job = rest.post(
        page, f"/api/v1/models/{run_id}/predictions", {"images": str(data / "val" / "dog"), "form": "jsonl"}
    )["id"]
    rest.until(page, f"/api/v1/predictions/{job}", lambda tree: tree["state"] == "succeeded")
    found = rest.get(page, f"/api/v1/predictions/{job}")
    assert found["total"] == 3
    right = [each["found"][0]["name"] == each["image"].split("/")[-2] for each in found["items"]]
    assert found["accuracy"] == sum(right) / 3
    pages.look(f"/predictions/{job}", act=lambda page: page.click("summary"))


def test_two_evaluations_are_compared(pages, server, run, run_id, data, rest):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    body = {"model": run_id, "data": f"folder:{data}", "split": "val"}
    first = rest.post(page, "/api/v1/evaluations", body)["id"]
    rest.until(page, "/api/v1/evaluations", lambda tree: tree["items"][0]["state"] == "succeeded")
    from cvzoo.config import set_seed
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
    from cvzoo.serializers.model_file import save_model

    set_seed(5)
    save_model(run / "best.safetensors", CIFARResNet(20, label_names=("cat", "dog")))
    second = rest.post(page, "/api/v1/evaluations", body)["id"]
    states = lambda tree: {each["state"] for each in tree["items"]}  # noqa: E731
    rest.until(page, "/api/v1/evaluations", lambda tree: states(tree) == {"succeeded"})
    counts = rest.get(page, f"/api/v1/evaluations/{second}/diff?other={first}")["counts"]
    page.goto(f"{server.address}/evaluations/{second}")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="What differs").wait_for()
    assert page.locator(".grid li").count() == sum(counts.values())
    pages.look(f"/evaluations/{second}/diff?other={first}")
