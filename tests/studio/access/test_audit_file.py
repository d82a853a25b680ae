"""The audit as a file beside the database."""

import json
import os
import stat

import pytest

from cvzoo.studio.access import audit_file
from cvzoo.studio.access.audit import complete_audit_file, entries, record, restore_audit


def write(studio, *actions):
    for action in actions:
        who = {"user": None, "address": "10.0.0.1"}
        record(studio.engine, studio.clock, **who, action=action, thing="", detail={"n": [1, 2.5, "é"]})
        studio.clock.now += 1000


def actions(studio):
    found = entries(studio.engine, before=None, action="", limit=100)
    return [each.action for each in reversed(found)]


def forget(studio):
    with studio.engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM audit")


def test_what_is_recorded_is_a_line_of_a_file_of_the_owner(browser, studio):
    browser.post("/api/v1/users", json={"name": "ada", "role": "viewer"})
    lines = [json.loads(line) for line in studio.place.audit.read_text().splitlines()]
    known = [each.to_json() for each in reversed(entries(studio.engine, before=None, action="", limit=100))]
    assert [(line["action"], line["detail"]) for line in lines] == [(row["action"], row["detail"]) for row in known]
    assert lines[-1]["action"] == "user.create"
    assert stat.S_IMODE(os.stat(studio.place.audit).st_mode) == 0o600
    assert str(studio.place.audit) in studio.place.secrets


def test_a_disk_that_does_not_take_the_line_does_not_fail_the_request(browser, studio, capsys):
    studio.place.audit.unlink()
    studio.place.audit.mkdir()
    assert browser.post("/api/v1/users", json={"name": "ada", "role": "viewer"}).status_code == 201
    assert "lacks user.create, which the database has" in capsys.readouterr().err
    assert actions(studio)[-1] == "user.create"


def test_half_a_line_is_taken_back(studio, monkeypatch, capsys):
    write(studio, "first")
    with monkeypatch.context() as patch:
        written = os.write
        patch.setattr(audit_file.os, "write", lambda file, data: written(file, data[:20]))
        write(studio, "second")
    write(studio, "third")
    assert "No space left" in capsys.readouterr().err
    assert [json.loads(line)["action"] for line in studio.place.audit.read_text().splitlines()] == ["first", "third"]


def test_lost_entries_are_restored_in_the_order_of_the_file_and_once(studio):
    write(studio, "first", "second")
    forget(studio)
    studio.clock.now -= 3_600_000  # it is set back
    write(studio, "third")
    assert restore_audit(studio.engine) == 2
    assert actions(studio) == ["first", "second", "third"]
    assert restore_audit(studio.engine) == 0
    write(studio, "fourth")
    assert actions(studio)[-1] == "fourth"


def test_what_the_file_lacks_stays_where_it_was(studio):
    write(studio, "first")
    before = studio.place.audit.read_bytes()
    write(studio, "second", "third", "third", "fourth")
    lines = studio.place.audit.read_bytes().removeprefix(before).splitlines(keepends=True)
    with studio.engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("DELETE FROM audit WHERE action = 'first'")
    studio.place.audit.write_bytes(before + b"".join(lines[1:3]))
    assert restore_audit(studio.engine) == 1
    assert actions(studio) == ["first", "second", "third", "third", "fourth"]


def test_what_the_file_lacks_is_appended_once(studio, capsys):
    def lines():
        return [json.loads(line)["action"] for line in studio.place.audit.read_text().splitlines()]

    write(studio, "first", "second")
    studio.place.audit.unlink()  # as after an upgrade, or a restored backup
    write(studio, "third")
    studio.clock.now -= 1000
    write(studio, "third")  # as the one before to the letter, before a kill
    studio.place.audit.write_bytes(studio.place.audit.read_bytes().splitlines(keepends=True)[0])
    assert complete_audit_file(studio.engine) == 3
    assert complete_audit_file(studio.engine) == 0
    assert sorted(lines()) == ["first", "second", "third", "third"]
    studio.place.audit.unlink()
    assert complete_audit_file(studio.engine) == 4
    assert lines() == actions(studio)
    studio.place.audit.unlink()
    studio.place.audit.mkdir()
    assert complete_audit_file(studio.engine) == 0
    assert "lacks first and 3 more, which the database has" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [b"half a l", b"[]", b"{}", b'{"at": "x"}', b"[" * 10_000, b"\xff", json.dumps(dict.fromkeys("abc")).encode()],
)
def test_malformed_lines_are_left_out(studio, line):
    write(studio, "first")
    with open(studio.place.audit, "ab") as file:
        file.write(line + b"\n")
    write(studio, "second")
    forget(studio)
    assert restore_audit(studio.engine) == 2
    assert actions(studio) == ["first", "second"]
