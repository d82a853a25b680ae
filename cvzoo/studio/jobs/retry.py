"""When a job whose attempt was lost is started again: later each time, as what ended it may last."""

import time

from cvzoo.studio.jobs.job import Job

BACK_OFF_S = (5, 30, 120)  # after the first, second and third attempt that was lost without progress


def retry_at(job: Job) -> int | None:
    """When the next attempt of a queued job may begin, milliseconds since 1970; None if no attempt was lost."""
    if job.state != "queued" or not job.n_lost:
        return None
    return job.changed_at + 1000 * BACK_OFF_S[min(job.n_lost, len(BACK_OFF_S)) - 1]


def rest_of(job: Job, now: int) -> str:
    """Why a queued job whose attempt was lost is not started yet, and when it will be; "" if it may be.

    now: milliseconds since 1970, as the job's times; of a clock that was set back behind the loss nothing is waited for
    """
    at = retry_at(job)
    if at is None or not job.changed_at <= now < at:
        return ""
    why = f" {job.outcome.sentence}" if job.outcome is not None else ""
    when = time.strftime("%H:%M:%S UTC", time.gmtime(-(-at // 1000)))
    return f"Waits:{why} It is started again from its last snapshot at {when}."
