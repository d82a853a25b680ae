"""A server in a process of its own, and a real browser."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class Server:
    """`cvzoo studio` of a folder; `link` signs in, `address` is that of its pages."""

    def __init__(self, home, watched, port=None):
        self.home, self.watched, self.port = home, watched, port
        self.start()

    def start(self):
        listen = [] if self.port is None else ["--listen", f"127.0.0.1:{self.port}"]
        words = ["studio", "--home", self.home, "--watch", self.watched, "--no-browser", *listen]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from cvzoo.cli.main import main; sys.exit(main())", *map(str, words)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parents[3])},
        )
        self.link = self.process.stdout.readline().split()[-1]
        self.port = int(re.search(r":(\d+)/", self.link)[1])
        self.address = f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def server(tmp_path, watched):
    running = Server(tmp_path / "served", watched)
    yield running
    running.kill()


@pytest.fixture(scope="module")  # its event loop would run in the other tests, too
def chromium():
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("no playwright: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """Pages of a browser whose console errors and requests to other hosts are failures."""

    def __init__(self, chromium, address):
        self.chromium, self.address = chromium, address
        self.faults = []
        self.cookies = None

    def page(self, *, width=1280, dark=False):
        context = self.chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        if self.cookies:
            context.add_cookies(self.cookies)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        return page

    def _asked(self, url):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"asked {url}")

    def sign_in(self, link):
        page = self.page()
        page.goto(link)
        page.wait_for_url(f"{self.address}/")
        self.cookies = page.context.cookies()
        return page


@pytest.fixture
def pages(chromium, server):
    return Watched(chromium, server.address)


def _violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


@pytest.fixture
def violations():
    """What axe finds in a page; nothing only if it is not installed."""
    return _violations if importlib.util.find_spec("axe_playwright_python") else lambda page: []


@pytest.fixture
def tab_to():
    """Moves the focus by the Tab key to what matches, as without a mouse."""

    def tab_to(page, selector):
        for _ in range(150):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached by the keyboard")

    return tab_to
