"""The order of queued jobs: who may change it, and what happens meanwhile."""

import itertools

import pytest

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.jobs.queue import move, read_queue
from cvzoo.studio.jobs.spec import ExportSpec, TrainSpec
from cvzoo.studio.problems import Problem

SPEC = TrainSpec("ssd300", "voc:shapes")
EXPORT = ExportSpec("best.safetensors", "wr_a", "ab", "onnx")


def who(user="us_a", role="trainer"):
    return Identity(user, user, user, role, True, True, "session")


ADMIN = who("us_admin", "administrator")


@pytest.fixture
def queued(studio, clock):
    """Makes jobs of users, one a letter; returns the identifiers by name, such as "a1"."""
    n = itertools.count(1)

    def queued(users, spec=SPEC):
        names = {}
        for user in users:
            clock.now += 1
            name = f"{user}{next(n)}"
            names[name] = studio.jobs.create(name, spec, f"us_{user}").id
        return names

    return queued


def order(studio):
    return " ".join(job.name for job in read_queue(studio.engine).jobs)


def test_a_job_is_moved_before_another_one_and_to_the_end(studio, queued):
    ids = queued("aaaa")
    assert move(studio.engine, ids["a4"], ids["a2"], who()) == (4, 2)
    assert order(studio) == "a1 a4 a2 a3"
    assert move(studio.engine, ids["a1"], None, who()) == (1, 4)
    assert order(studio) == "a4 a2 a3 a1"
    assert move(studio.engine, ids["a2"], ids["a2"], who()) == (2, 2)
    assert [job.name for job in studio.jobs.queued()] == ["a4", "a2", "a3", "a1"]


def test_a_job_that_is_queued_or_resumed_later_comes_after_all_others(studio, queued):
    ids = queued("aaa")
    assert studio.jobs.apply(studio.jobs.get(ids["a1"]), "pause") is not None
    move(studio.engine, ids["a3"], ids["a2"], who())
    ids |= queued("a")
    assert studio.jobs.apply(studio.jobs.get(ids["a1"]), "resume") is not None
    assert order(studio) == "a3 a2 a4 a1"


def test_a_job_that_is_started_again_after_a_loss_is_the_first_whatever_was_moved(studio, queued):
    ids = queued("aaa")
    running = studio.jobs.apply(studio.jobs.get(ids["a1"]), "admit", attempt=1)
    move(studio.engine, ids["a3"], ids["a2"], who())
    assert studio.jobs.apply(running, "lose") is not None
    assert order(studio) == "a1 a3 a2"


def test_trainers_move_their_own_jobs_and_nobody_waits_longer_for_it(studio, queued):
    ids = queued("abab")
    for job, before in (("b2", "a1"), ("a3", "b2"), ("a3", "a1"), ("b4", "a1")):
        with pytest.raises(Problem) as caught:
            move(studio.engine, ids[job], ids[before], who())
        assert caught.value.status_code == 403
    assert order(studio) == "a1 b2 a3 b4"
    assert move(studio.engine, ids["a1"], ids["b4"], who()) == (1, 3)  # lets others pass
    assert order(studio) == "b2 a3 a1 b4"
    assert move(studio.engine, ids["a1"], ids["a3"], who()) == (3, 2)  # before another one of the same user
    with pytest.raises(Problem, match="another user"):
        move(studio.engine, ids["a1"], None, who(role="viewer"))
    assert move(studio.engine, ids["b4"], ids["b2"], ADMIN) == (4, 1)
    assert order(studio) == "b4 b2 a1 a3"


def test_what_the_page_offers_is_what_is_allowed(studio, queued):
    queued("abaab")
    for user in (who(), who("us_b"), who(role="viewer"), ADMIN):
        for each in read_queue(studio.engine).waiting(user):
            for before in (each.earlier, each.later):
                if before is not None:
                    was = order(studio)
                    first, second = move(studio.engine, each.job.id, before or None, user)
                    assert abs(first - second) == 1
                    names = was.split()
                    i, j = first - 1, second - 1
                    names[i], names[j] = names[j], names[i]
                    assert order(studio).split() == names
                    # back, as an administrator
                    at = next(k for k, name in enumerate(was.split()) if name == each.job.name)
                    behind = was.split()[at + 1 : at + 2]
                    by_name = {job.name: job.id for job in read_queue(studio.engine).jobs}
                    move(studio.engine, each.job.id, by_name[behind[0]] if behind else None, ADMIN)
                    assert order(studio) == was
    offered = {each.job.name: (each.earlier, each.later) for each in read_queue(studio.engine).waiting(who())}
    assert offered["b2"] == (None, None)
    assert offered["a3"][0] is None  # behind one of another user
    assert offered["a4"][0] is not None


def test_the_lanes_are_ordered_by_themselves(studio, queued):
    trainings = queued("aa")
    exports = queued("aa", EXPORT)
    with pytest.raises(Problem) as caught:
        move(studio.engine, exports["a4"], trainings["a1"], ADMIN)
    assert caught.value.status_code == 409
    assert move(studio.engine, exports["a4"], exports["a3"], ADMIN) == (2, 1)
    assert [job.name for job in read_queue(studio.engine).lane("long")] == ["a1", "a2"]
    assert [job.name for job in read_queue(studio.engine).lane("short")] == ["a4", "a3"]


@pytest.mark.parametrize("event", ["admit", "stop", "pause"])
@pytest.mark.parametrize("which", ["a1", "a3"])
def test_a_job_that_started_or_ended_meanwhile_is_not_moved(studio, queued, event, which):
    ids = queued("aaa")
    more = {"attempt": 1} if event == "admit" else {}
    assert studio.jobs.apply(studio.jobs.get(ids[which]), event, **more) is not None
    before = order(studio)
    with pytest.raises(Problem) as caught:
        move(studio.engine, ids["a3"], ids["a1"], ADMIN)
    assert caught.value.status_code == 409
    assert order(studio) == before
    assert studio.jobs.get(ids[which]).state == {"admit": "starting", "stop": "stopped", "pause": "paused"}[event]


def test_a_row_that_cannot_be_read_keeps_its_place(studio, queued):
    from sqlalchemy import update

    from cvzoo.studio.database.engine import writing
    from cvzoo.studio.database.tables import JOB

    ids = queued("aaa")
    with writing(studio.engine) as connection:
        connection.execute(update(JOB).where(JOB.c.id == ids["a2"]).values(spec="{"))
    assert move(studio.engine, ids["a3"], ids["a1"], ADMIN) == (2, 1)
    assert order(studio) == "a3 a1"


def test_two_hundred_random_moves_by_many_at_once_lose_and_repeat_no_job(studio, queued):
    import random
    from concurrent.futures import ThreadPoolExecutor

    ids = list(queued("aaaaaaaa").values())
    rng = random.Random(0)
    moves = [(rng.choice(ids), rng.choice([*ids, None])) for _ in range(200)]

    def one(pair):
        move(studio.engine, *pair, ADMIN)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, moves))
    jobs = read_queue(studio.engine).jobs
    assert {job.id for job in jobs} == set(ids)
    assert sorted(job.place for job in jobs) == list(range(1, 9))
