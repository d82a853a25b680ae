"""A server in a process of its own, and a real browser."""

import importlib.util
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import types

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENSHOTS = os.environ.get("CVZOO_SCREENSHOTS")  # a folder: pages are written to it, to be looked at
SIZES = (360, 1280, 2560)  # pixels: a telephone, a laptop, a large screen
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def free_port():
    """A port that another studio of this machine does not take while a server is started again, as it may the usual."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """`cvzoo studio` of a folder; `link` signs in, `address` is that of its pages."""

    def __init__(self, home, watched, port=None):
        self.home, self.watched, self.port = home, watched, port or free_port()
        self.start()

    def start(self):
        words = ["studio", "--home", self.home, "--watch", self.watched, "--no-browser"]
        words += ["--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from cvzoo.cli.main import main; sys.exit(main())", *map(str, words)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parents[3])},
        )
        self.link = self.process.stdout.readline().split()[-1]
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


@pytest.fixture
def with_webcam(chromium):
    """A browser whose webcam shows a test pattern that moves."""
    flags = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=flags)
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
        page.on("console", lambda message: message.type == "error" and self._said(message))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        return page

    def _said(self, message):
        self.faults.append(f"{message.text} {message.location.get('url', '')}")

    def _asked(self, url):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"asked {url}")

    def look(self, path, *, act=None, but=()):
        """A page at every width, in light and dark: nothing is cut off, and axe finds nothing of A and AA.

        path: after the address; act: called with the page, such as to open a dialog; but: parts of expected faults,
        such as "404"
        """
        for width in SIZES:
            for dark in (False, True):
                page = self.page(width=width, dark=dark)
                page.set_default_timeout(90_000)
                page.goto(self.address + path)
                if act is not None:
                    act(page)
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                if SCREENSHOTS:
                    name = re.sub(r"[^a-z]+", "-", f"{path}-{act.__name__ if act else ''}".lower()).strip("-")
                    page.screenshot(
                        path=f"{SCREENSHOTS}/{name or 'home'}-{width}-{'dark' if dark else 'light'}.png", full_page=True
                    )
                assert wide <= 0, (path, width)
                assert _violations(page) == [], (path, width, dark)
                page.context.close()
        self.faults = [fault for fault in self.faults if not any(part in fault for part in but)]
        assert self.faults == [], path

    def sign_in(self, link):
        page = self.page()
        page.goto(link)
        page.wait_for_url(f"{self.address}/")
        self.cookies = page.context.cookies()
        return page


@pytest.fixture
def pages(chromium, server):
    yield Watched(chromium, server.address)
    for context in chromium.contexts:  # a page that stays open may keep later ones from opening a file chooser
        context.close()


@pytest.fixture
def page(pages, server):
    """The page of a person who has just signed in; steps on a busy machine take long."""
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    return page


def _violations(page):
    """What axe finds in a page; nothing only if it is not installed."""
    if importlib.util.find_spec("axe_playwright_python") is None:
        return []
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


def post(page, address, path, tree):
    """What the REST interface answers the page's user."""
    answer = page.request.post(address + path, data=tree, headers={"sec-fetch-site": "same-origin"})
    assert answer.ok, answer.text()
    return answer.json()


def get(page, address, path):
    answer = page.request.get(address + path)
    assert answer.ok, answer.text()
    return answer.json()


def until(page, address, path, is_so):
    """What the path answers as soon as it `is_so`."""
    for _ in range(600):
        if is_so(found := get(page, address, path)):
            return found
        page.wait_for_timeout(200)
    raise AssertionError(f"{path} answers {found}")


@pytest.fixture
def rest(server):
    """post(page, path, tree), get(page, path) and until(page, path, is_so) of the running server."""
    names = {"post": post, "get": get, "until": until}
    return types.SimpleNamespace(
        **{name: lambda page, *more, f=function: f(page, server.address, *more) for name, function in names.items()}
    )


@pytest.fixture
def violations():
    return _violations


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
