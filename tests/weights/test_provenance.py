from cvzoo.weights.provenance import describe_weights, list_weights
from cvzoo.weights.record import Weights


def record(**changes):
    fields = {
        "name": "net",
        "url": "https://example.org/a.npz",
        "sha256": None,
        "licence": "MIT",
        "data": "COCO",
        "data_licence": "CC-BY-4.0",
        "source": "somebody @12ab",
    }
    return Weights(**{**fields, **changes})


def test_a_description_says_everything_that_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    labels = tuple(f"class {i}" for i in range(20))
    lines = dict(describe_weights(record(label_names=labels, score={"AP": 0.5}, preprocessing={"size": 320})))
    assert lines["labels"] == "20: class 0, class 1, class 2, ..., class 19"
    assert lines["score"] == "AP 0.5"
    assert lines["preprocessing"] == "size 320"
    assert "not published" in lines["sha256"]
    assert lines["file"] == f"{tmp_path / 'weights' / 'net' / 'a.npz'} (not fetched yet)"


def test_a_list_is_sorted_and_says_what_is_cached(monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    rows = list_weights([record(name="b"), record(name="A", size=3)])
    assert [(row.name, row.size, row.is_cached) for row in rows] == [("A", 3, False), ("b", None, False)]


def test_a_file_of_the_package_is_where_it_is_and_has_no_address():
    lines = dict(describe_weights(record(url="file:///some/where/in%20here/net.safetensors")))
    assert lines["file"] == "/some/where/in here/net.safetensors"
    assert "url" not in lines
