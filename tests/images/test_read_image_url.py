"""Images by address, from a server on this machine."""

import functools
import http.server
import threading

import numpy as np
import pytest

from cvzoo.errors import ImageError
from cvzoo.images import encode_png, read_image_url
from cvzoo.images.read_image_url import download_video

IMG = np.random.default_rng(0).integers(0, 256, (3, 5, 7)).astype(np.float32)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *arguments):
        pass


@pytest.fixture
def address(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "photo.png").write_bytes(encode_png(IMG))
    (tmp_path / "letter.png").write_bytes(b"dear reader")
    (tmp_path / "page.html").write_bytes(b"<html>not found, but kindly</html>")
    handler = functools.partial(QuietHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_photo_comes_from_its_address(address):
    np.testing.assert_array_equal(read_image_url(f"{address}/photo.png"), IMG)
    assert read_image_url(f"{address}/photo.png", color=False).shape == (1, 5, 7)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_failures_name_the_address(address):
    with pytest.raises(ImageError, match=r"absent\.png: cannot be downloaded"):
        read_image_url(f"{address}/absent.png")
    with pytest.raises(ImageError, match=r"letter\.png: not an image"):
        read_image_url(f"{address}/letter.png")
    with pytest.raises(ImageError, match=r"page\.html: the server sends a page \(HTML\), not an image"):
        read_image_url(f"{address}/page.html")
    with pytest.raises(ImageError, match=r"photo\.png: the file is too large"):
        read_image_url(f"{address}/photo.png", max_bytes=20)
    with pytest.raises(ImageError, match="at most 34 pixels"):
        read_image_url(f"{address}/photo.png", max_pixels=34)
    with pytest.raises(ImageError, match=r"photo\.png: the download takes too long"):
        read_image_url(f"{address}/photo.png", max_seconds=-1)
    for url in (
        "http://exa mple/a.png",
        "http://[::1/a.png",
        "http://127.0.0.1:99999/a.png",
        f"http://127.0.0.1:{10**20}/a.png",
    ):
        with pytest.raises(ImageError, match="cannot be downloaded"):
            read_image_url(url)


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://example.com/a.png", "dog.jpg", "data:image/png;base64,"]
)
def test_only_http_and_https_are_fetched(url):
    with pytest.raises(ImageError, match="not an http"):
        read_image_url(url)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_video_is_downloaded_whole_or_not_at_all(address, tmp_path):
    (tmp_path / "movie.avi").write_bytes(bytes(range(256)) * 400)
    folder = tmp_path / "here"
    folder.mkdir()
    seen = []
    path = download_video(f"{address}/movie.avi?start=0", folder, progress=lambda *each: seen.append(each))
    assert path.suffix == ".avi"
    assert path.read_bytes() == (tmp_path / "movie.avi").read_bytes()
    assert seen[-1] == (102400, 102400)
    with pytest.raises(ImageError, match=r"page\.html: the server sends a page \(HTML\), not a video"):
        download_video(f"{address}/page.html", folder)
    with pytest.raises(ImageError, match="the file is too large"):
        download_video(f"{address}/movie.avi", folder, max_bytes=1000)
