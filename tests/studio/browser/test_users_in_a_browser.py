"""Flow 14: an administrator invites a viewer, who sets a password and sees what viewers see."""

import pytest

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery"


def test_a_viewer_is_invited_and_sees_no_button_that_changes_something(pages, server):
    page = pages.sign_in(server.link)
    page.get_by_role("link", name="Administration").click()
    page.fill("#new-name", "Ada")
    page.select_option("#new-role", "viewer")
    page.get_by_role("button", name="Add").click()
    link = page.inner_text("#link")
    assert link.startswith(f"{server.address}/open?ticket=")
    page.goto(f"{server.address}/admin/audit")
    page.get_by_role("cell", name="user.create").wait_for()

    pages.cookies = None
    viewer = pages.sign_in(link)
    viewer.get_by_role("link", name="ada").click()
    viewer.fill("#new", PASSWORD)
    viewer.get_by_role("button", name="Set the password").click()
    viewer.wait_for_url(f"{server.address}/sign-in")
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
