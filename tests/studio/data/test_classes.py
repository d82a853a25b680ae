"""Colors, order, names and merges of classes, by REST and by the form."""

import json

import pytest


@pytest.fixture
def path(dataset):
    return f"/api/v1/datasets/{dataset}/classes"


def test_colors_are_kept_with_their_class(browser, path, dataset):
    assert browser.get(path).json()["colors"] == {"cat": "#e6194b", "dog": "#3cb44b"}
    body = {"names": ["cat", "dog"], "colors": {"dog": "#ABCDEF"}}
    assert browser.put(path, json=body).json() == {"rev": 1}  # colors have no history
    body = {"names": ["dog", "lion"], "renamed": {"cat": "lion"}}
    assert browser.put(path, json=body).json() == {"rev": 2}
    assert browser.get(path).json() == {"names": ["dog", "lion"], "colors": {"dog": "#abcdef", "lion": "#3cb44b"}}
    assert browser.put(path, json={"names": ["wolf", "lion"], "renamed": {"dog": "wolf"}}).status_code == 200
    assert browser.get(path).json()["colors"]["wolf"] == "#abcdef"
    for page in ("images", "images/1", ""):
        assert "#abcdef" in browser.get(f"/data/{dataset}/{page}".rstrip("/")).text, page


@pytest.mark.parametrize(
    "name",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u05d7\u05ea\u05d5\u05dc",
    ],
)
def test_a_name_of_letters_that_are_joined_or_run_to_the_left_is_a_name(browser, path, name):
    assert browser.put(path, json={"names": ["cat", name], "renamed": {"dog": name}}).status_code == 200
    assert browser.get(path).json()["names"] == ["cat", name]


@pytest.mark.parametrize("name", ["\u200d", "a\u202eb", "a\x1bb", "a\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(browser, path, name):
    body = b'{"names": ["cat", %s], "renamed": {"dog": %s}}' % ((json.dumps(name).encode(),) * 2)
    answer = browser.put(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert browser.get(path).json()["names"] == ["cat", "dog"]


@pytest.mark.parametrize("color", ["red", "#12345", "#1234567", '#12"45a', "url(x)"])
def test_what_is_no_color_is_refused(browser, path, color):
    body = {"names": ["cat", "dog"], "renamed": {}, "colors": {"cat": color}}
    assert browser.put(path, json=body).status_code == 422
    assert browser.put(path, json=body | {"colors": {"cow": "#123456"}}).status_code == 422
    assert browser.get(path).json()["colors"]["cat"] == "#e6194b"


def test_a_change_is_told_before_it_is_made(browser, path):
    body = {"names": ["animal", "bird"], "renamed": {"cat": "animal", "dog": "animal"}, "dry": True}
    answer = browser.put(path, json=body).json()
    assert answer["rev"] == 1
    assert answer["changes"] == [
        {"name": "cat", "after": "animal", "number": [0, 0], "n_image": 10, "n_object": 10, "merged": ["dog"]},
        {"name": "dog", "after": "animal", "number": [1, 0], "n_image": 10, "n_object": 10, "merged": ["cat"]},
    ]
    assert browser.get(path).json()["names"] == ["cat", "dog"]


@pytest.mark.parametrize(
    ("field", "wrong", "words"),
    [
        ("name", "x" * 201, "a name has at most 200 letters, and this one 201"),
        ("number", "", "its number is none"),
        ("number", "1e3", "its number is none"),
        ("number", "-1", "its number is none"),
    ],
)
def test_what_is_wrong_with_a_class_is_said_beside_it_and_what_was_typed_stays(
    browser, path, dataset, field, wrong, words
):
    form = {"old": ["cat", "dog"], "name": ["lion", "wolf"], "color": ["#e6194b", "#101010"], "number": ["2", "1"]}
    form[field][1] = wrong
    answer = browser.post(f"/data/{dataset}/classes", data=form)
    assert answer.status_code == 422
    assert f'<p class="error" id="class-error-2">{words}</p>' in answer.text
    assert 'name="name" value="lion"' in answer.text
    assert f'name="{field}" value="{wrong}"' in answer.text
    assert browser.get(path).json()["names"] == ["cat", "dog"]


@pytest.mark.parametrize(
    ("name", "words"), [("x" * 201, "at most 200 letters"), ("cat", "different names"), ("a\x00", "shown")]
)
def test_a_new_class_that_is_refused_stays_in_its_field(browser, path, dataset, name, words):
    answer = browser.post(f"/data/{dataset}/classes", data={"name": name})
    assert answer.status_code == 422
    error = answer.text.partition('id="new-class-error" role="alert">')[2].partition("</p>")[0]
    assert words in error
    assert f'value="{name}" maxlength="200" required aria-invalid="true"' in answer.text
    assert browser.get(path).json()["names"] == ["cat", "dog"]


def test_the_form_orders_renames_and_colors_at_once(browser, path, dataset, studio):
    form = {"old": ["cat", "dog"], "name": ["cat", "wolf"], "color": ["#e6194b", "#101010"], "number": ["2", "1"]}
    page = browser.post(f"/data/{dataset}/classes", data=form | {"action": "preview"})
    assert page.status_code == 200
    assert "dog is now wolf: 10 objects in 10 images, number 0 instead of 1" in page.text
    assert browser.get(path).json()["names"] == ["cat", "dog"]
    assert browser.post(f"/data/{dataset}/classes", data=form).status_code == 303
    assert browser.get(path).json() == {"names": ["wolf", "cat"], "colors": {"wolf": "#101010", "cat": "#3cb44b"}}
    late = browser.post(f"/data/{dataset}/classes", data=form)
    assert (late.status_code, "changed meanwhile" in late.text) == (422, True)
    assert studio.data.datasets.get(dataset).head_rev == 2
