"""Flow 13: queued jobs are dragged, and moved by the keyboard alone; the order survives a killed server."""

import fcntl
import os

import pytest

from cvzoo.studio.clock import now_ms
from cvzoo.studio.jobs.spec import ExportSpec, TrainSpec

pytestmark = pytest.mark.slow
SCREENSHOTS = os.environ.get("CVZOO_SCREENSHOTS")
SPEC = TrainSpec("ssd300", "voc:shapes")
EXPORT = ExportSpec("best.safetensors", "wr_a", "ab", "onnx")
NAMES = ("cats", "dogs at night, with all settings as in the paper but for the learning rate", "birds", "fish")


class Queued:
    """The jobs of a server's studio, behind two that run as long as this object has their locks."""

    def __init__(self, server):
        from cvzoo.studio.access.tickets import new_ticket
        from cvzoo.studio.access.users import all_users
        from cvzoo.studio.database.migrate import ready_database
        from cvzoo.studio.jobs.job import Jobs
        from cvzoo.studio.place import Place

        place = Place(server.home)
        self.engine = ready_database(place)
        new_ticket(self.engine, now_ms)
        user = all_users(self.engine)[0].id
        self.jobs, self.locks = Jobs(self.engine, place, now_ms), []
        for spec in (SPEC, EXPORT):
            job = self.jobs.create("running", spec, user)
            self.locks.append(os.open(place.lock(job.id, 1), os.O_RDWR | os.O_CREAT))
            fcntl.flock(self.locks[-1], fcntl.LOCK_EX)
            admitted = self.jobs.apply(job, "admit", attempt=1)
            assert admitted is not None, "the server was faster"
        self.ids = {name: self.jobs.create(name, SPEC, user).id for name in NAMES}
        self.ids |= {name: self.jobs.create(name, EXPORT, user).id for name in ("first as ONNX", "second as ONNX")}

    def order(self):
        return [job.name for job in self.jobs.queued()][: len(NAMES)]

    def close(self):
        for lock in self.locks:
            os.close(lock)
        self.engine.dispose()


@pytest.fixture
def queued(server):
    server.process.kill()  # so that no job starts before the running ones hold their locks
    server.process.wait()
    queued = Queued(server)
    server.kill()
    server.start()
    yield queued
    server.process.kill()  # it would start the jobs when their locks are free
    server.process.wait()
    queued.close()


def shown(page):
    return page.eval_on_selector_all("ol[aria-labelledby=queue-long] li", "rows => rows.map(row => row.dataset.name)")


def center(locator):
    box = None
    while box is None:  # it is replaced by what the server says now
        locator.wait_for()
        box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, name, onto, *, above=True):
    """Drags a job by its handle to a little above, or below, the middle of another one."""
    page.mouse.move(*center(page.locator(f'[data-name="{name}"] .grip')))
    page.mouse.down()
    x, y = center(page.locator(f'[data-name="{onto}"]'))
    page.mouse.move(x, y + (-4 if above else 4), steps=12)


def test_jobs_are_dragged_and_moved_by_keyboard_and_the_order_survives_a_killed_server(
    pages, server, queued, violations, tab_to
):
    cats, dogs, birds, fish = NAMES
    page = pages.sign_in(server.link)
    page.goto(f"{server.address}/jobs")
    assert shown(page) == list(NAMES)
    for width, dark in ((360, False), (360, True), (1280, False), (1280, True), (2560, False), (2560, True)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        assert violations(page) == [], (width, dark)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, width
        if SCREENSHOTS:
            page.screenshot(path=f"{SCREENSHOTS}/queue-{width}-{'dark' if dark else 'light'}.png")
    page.set_viewport_size({"width": 1280, "height": 900})

    drag(page, fish, dogs)
    if SCREENSHOTS:
        page.screenshot(path=f"{SCREENSHOTS}/queue-dragged.png")
    with page.expect_response("**/queue:reorder"):
        page.mouse.up()
    page.locator("#queue-said", has_text="fish is now 2 of 4.").wait_for(state="attached")
    assert queued.order() == shown(page) == [cats, fish, dogs, birds]
    drag(page, cats, birds)
    page.keyboard.press("Escape")  # as it was
    page.mouse.up()
    assert queued.order() == shown(page) == [cats, fish, dogs, birds]

    page.reload()
    tab_to(page, f'[data-name="{birds}"] [data-way="earlier"]')
    for _ in range(3):  # faster than the server answers
        page.keyboard.press("Enter")
    page.locator("#queue-said", has_text="birds is now 1 of 4.").wait_for(state="attached")
    down = f"[data-name={birds}] [data-way=later]"  # the button up is off at the top
    page.wait_for_function("selector => document.activeElement.matches(selector)", arg=down)
    assert queued.order() == shown(page) == [birds, cats, fish, dogs]
    page.keyboard.press("Enter")
    page.locator("#queue-said", has_text="birds is now 2 of 4.").wait_for(state="attached")
    page.locator("[data-name=birds]:nth-child(2)").wait_for()

    page.route("**/jobs", lambda route: route.abort())  # the page does not learn what happens elsewhere
    queued.jobs.apply(queued.jobs.get(queued.ids[cats]), "stop")  # meanwhile, elsewhere
    drag(page, dogs, cats)
    with page.expect_response("**/queue:reorder") as answer:
        page.mouse.up()
    assert answer.value.status == 409
    page.locator("#queue-failed", has_text="is not in this queue any more").wait_for()
    page.unroute("**/jobs")
    page.wait_for_function("() => document.querySelectorAll('ol[aria-labelledby=queue-long] li').length === 3")
    assert queued.order()[:3] == shown(page) == [birds, fish, dogs]

    server.kill()
    server.start()
    page.goto(f"{server.address}/jobs")
    assert shown(page) == [birds, fish, dogs]
    expected = ("409", "ERR_FAILED", "ERR_CONNECTION_REFUSED")  # the page also asks while the server is away
    assert [each for each in pages.faults if not any(word in each for word in expected)] == []


def test_a_finger_drags_a_job(pages, server, queued, chromium):
    page = pages.sign_in(server.link)
    context = chromium.new_context(viewport={"width": 360, "height": 800}, has_touch=True, is_mobile=True)
    context.add_cookies(page.context.cookies())
    page = context.new_page()
    page.goto(f"{server.address}/jobs")
    touch = context.new_cdp_session(page)
    x, y = center(page.locator('[data-name="birds"] .grip'))
    _, end = center(page.locator('[data-name="cats"]'))
    points = [{"x": x, "y": y + (end - 6 - y) * i / 10} for i in range(11)]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [points[0]]})
    for point in points[1:]:
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    with page.expect_response("**/queue:reorder"):
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert queued.order()[0] == "birds"
    context.close()


def test_a_list_from_before_a_move_does_not_bring_the_old_order_back(pages, server, queued):
    cats, dogs, birds, fish = NAMES
    page = pages.sign_in(server.link)
    page.goto(f"{server.address}/jobs")
    old = []
    page.route("**/jobs", lambda route: route.continue_() if old else old.append((route, route.fetch())))
    with page.expect_request("**/jobs"):  # the page asks every five seconds
        pass
    page.click(f'[data-name="{birds}"] [data-way="earlier"]')
    page.locator(f'[data-name="{birds}"]:nth-child(2)').wait_for()
    route, answer = old[0]
    with page.expect_response("**/jobs"):
        route.fulfill(response=answer)
    page.wait_for_timeout(1000)
    assert shown(page) == [cats, birds, dogs, fish]
