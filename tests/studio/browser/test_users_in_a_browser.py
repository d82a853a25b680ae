"""Flow 14: an administrator invites a viewer, who sets a password and sees what viewers see."""

import os

SCREENSHOTS = os.environ.get("CVZOO_SCREENSHOTS")
PASSWORD = "correct horse battery"


def looked_at(page, violations, name):
    for width, dark in ((360, False), (1280, True), (2560, False)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        assert violations(page) == [], name
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, (name, width)
        if SCREENSHOTS:
            page.screenshot(path=f"{SCREENSHOTS}/{name}-{width}.png", full_page=True)


def test_a_viewer_is_invited_and_sees_no_button_that_changes_something(pages, server, violations):
    page = pages.sign_in(server.link)
    page.get_by_role("link", name="Administration").click()
    page.fill("#new-name", "Ada")
    page.select_option("#new-role", "viewer")
    page.get_by_role("button", name="Add").click()
    link = page.inner_text("#link")
    assert link.startswith(f"{server.address}/open?ticket=")
    looked_at(page, violations, "admin")
    page.goto(f"{server.address}/admin/audit")
    page.get_by_role("cell", name="user.create").wait_for()
    looked_at(page, violations, "audit")

    pages.cookies = None
    viewer = pages.sign_in(link)
    viewer.get_by_role("link", name="ada").click()
    looked_at(viewer, violations, "account")
    viewer.fill("#new", PASSWORD)
    viewer.get_by_role("button", name="Set the password").click()
    viewer.wait_for_url(f"{server.address}/sign-in")
    looked_at(viewer, violations, "sign-in")
    viewer.fill("#name", "ada")
    viewer.fill("#password", PASSWORD)
    viewer.get_by_role("button", name="Sign in").click()
    viewer.wait_for_url(f"{server.address}/")
    for path in ("/", "/data", "/jobs", "/models", "/evaluations"):
        viewer.goto(server.address + path)
        assert viewer.locator("main form[method=post]").count() == 0, path
        for name in ("New training", "New data set", "Administration"):
            assert viewer.get_by_role("link", name=name).count() == 0, (path, name)
    assert pages.faults == []
    viewer.goto(f"{server.address}/admin")
    assert "needs the role administrator" in viewer.inner_text("main")
