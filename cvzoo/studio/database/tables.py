"""The schema. Times are milliseconds since 1970, UTC; what is secret is stored as its SHA-256."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

METADATA = MetaData()

USER = Table(
    "user",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("name", String(80), unique=True, nullable=False),  # folded to lower case
    Column("role", String(14), nullable=False, server_default="viewer"),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("password", LargeBinary(48)),  # salt and hash; null: signs in by links only
    Column("quota", Text, nullable=False, server_default="{}"),  # JSON
    Column("shown_name", String(80), nullable=False, server_default=""),  # "": the name
    Column("has_keys", Boolean, nullable=False, server_default=true()),  # single letters are keys of pages
    Column("created_at", Integer, nullable=False),
)
TICKET = Table(
    "ticket",
    METADATA,
    Column("digest", LargeBinary(32), primary_key=True),
    Column("user", ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
    Column("expires_at", Integer, nullable=False),
    Column("used_at", Integer),
)
SESSION = Table(
    "session",
    METADATA,
    Column("digest", LargeBinary(32), primary_key=True),
    Column("user", ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("expires_at", Integer, nullable=False),
    Column("seen_at", Integer, nullable=False),
    Column("address", String(64), nullable=False),
    Column("browser", String(200), nullable=False),
)
TOKEN = Table(
    "token",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("digest", LargeBinary(32), unique=True, nullable=False),
    Column("user", ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(80), nullable=False),
    Column("scope", String(10), nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("expires_at", Integer, nullable=False),
    Column("used_at", Integer),
    Column("revoked_at", Integer),
)
AUDIT = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
    Column("user", String(19)),
    Column("address", String(64), nullable=False),
    Column("action", String(40), nullable=False),
    Column("object", String(80), nullable=False),
    Column("detail", Text, nullable=False),
)
Index("audit_at", AUDIT.c.at)
JOB = Table(
    "job",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("name", String(120), nullable=False),
    Column("spec", Text, nullable=False),
    Column("state", String(10), nullable=False),
    Column("detail", Text, nullable=False),
    Column("rank", Integer, nullable=False),  # counts changes
    Column("attempt", Integer, nullable=False),  # number of the last one, 0: none
    Column("n_lost", Integer, nullable=False),
    Column("iteration", Integer, nullable=False),  # at the start of the last attempt
    Column("queued_at", Integer, nullable=False),
    Column("place", Integer, nullable=False, server_default="0"),  # in the queue, different for each job
    Column("changed_at", Integer, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("created_by", String(19)),
    Column("parent", String(19)),  # the job that it was made of
    Column("relation", String(8), nullable=False, server_default=""),  # clone, rerun, extend, remedy
    Column("notes", Text, nullable=False, server_default=""),
    Column("tags", Text, nullable=False, server_default="[]"),  # JSON
    Column("trashed_at", Integer),
    Column("priority", Integer, nullable=False, server_default="5"),  # 0 to 9; 9 comes first
    Column("is_held", Boolean, nullable=False, server_default=false()),
    Column("outcome", Text, nullable=False, server_default=""),  # JSON of its last attempt
)
Index("job_state", JOB.c.state, JOB.c.place)
UPLOAD = Table(
    "upload",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("size", Integer, nullable=False),
    Column("offset", Integer, nullable=False),  # bytes that are on the disk
    Column("touched_at", Integer, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("created_by", String(19)),
)
DATASET = Table(
    "dataset",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("name", String(120), nullable=False, unique=True),
    Column("task", String(12), nullable=False),  # boxes, classes; "" while it is imported
    Column("layout", String(12), nullable=False),  # that it was read from
    Column("state", String(10), nullable=False),  # importing, ready, failed
    Column("detail", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column(
        "colors", Text, nullable=False, server_default="{}"
    ),  # name of a class -> as "#e6194b", of those with their own
    Column("licence", String(200), nullable=False, server_default=""),
    Column("notes", Text, nullable=False, server_default=""),
    Column("trashed_at", Integer),  # null of what was not deleted
    Column("trashed_name", String(120), nullable=False, server_default=""),  # its name, which others may have meanwhile
    Column("head_rev", Integer, nullable=False),
    Column("checked_rev", Integer, nullable=False),
    Column("changed_at", Integer, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("created_by", String(19)),
)
REVISION = Table(
    "revision",
    METADATA,
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
    Column("rev", Integer, primary_key=True),
    Column("kind", String(10), nullable=False),
    Column("message", String(400), nullable=False),
    Column("n_changed", Integer, nullable=False),
    Column("classes", Text, nullable=False),  # all names in the order of their labels; "": as before
    Column("edit_id", String(40)),
    Column("at", Integer, nullable=False),
    Column("user", String(19)),
    UniqueConstraint("dataset", "edit_id", name="revision_edit"),
)
# an item is valid from first_rev on, until before last_rev
ITEM = Table(
    "item",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("first_rev", Integer, nullable=False),
    Column("last_rev", Integer),
    Column("name", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("height", Integer, nullable=False),  # 0: it cannot be decoded
    Column("width", Integer, nullable=False),
    Column("split", String(40), nullable=False),
    Column("n_object", Integer, nullable=False),
    Column("labels", Text, nullable=False),
    Column("extra", Text, nullable=False),
    Column("tags", Text, nullable=False, server_default=""),  # a list as JSON; "": none
    Column("stage", String(8), nullable=False, server_default="todo"),  # todo, done, accepted, back
    Column("assignee", String(80), nullable=False, server_default=""),  # the name of a user
)
Index("item_ordinal", ITEM.c.dataset, ITEM.c.ordinal, ITEM.c.first_rev, unique=True)
# of the newest revision; with the name, so that a part of it is looked for in the index alone
Index("item_name", ITEM.c.dataset, ITEM.c.ordinal, ITEM.c.name, sqlite_where=text("last_rev IS NULL"))
Index("item_split", ITEM.c.dataset, ITEM.c.split, ITEM.c.ordinal, sqlite_where=text("last_rev IS NULL"))
Index("item_stage", ITEM.c.dataset, ITEM.c.stage, ITEM.c.ordinal, sqlite_where=text("last_rev IS NULL"))
Index("item_assignee", ITEM.c.dataset, ITEM.c.assignee, ITEM.c.ordinal, sqlite_where=text("last_rev IS NULL"))
Index("item_ended", ITEM.c.dataset, ITEM.c.last_rev, sqlite_where=text("last_rev IS NOT NULL"))
_TAGGED = text("last_rev IS NULL AND tags != ''")
Index("item_tagged", ITEM.c.dataset, ITEM.c.ordinal, ITEM.c.tags, sqlite_where=_TAGGED)
ITEM_CLASS = Table(
    "item_class",
    METADATA,
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("first_rev", Integer, primary_key=True),
    Column("last_rev", Integer),
    Column("n", Integer, nullable=False),
)
FACET = Table(
    "facet",
    METADATA,
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(5), primary_key=True),  # split, class, tag, stage, user
    Column("name", String(200), primary_key=True),
    Column("n_image", Integer, nullable=False),
    Column("n_object", Integer, nullable=False),
)
VERSION = Table(
    "version",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("name", String(120), nullable=False),
    Column("content", String(64), nullable=False),  # SHA-256 of its images and annotations
    Column("state", String(10), nullable=False),  # making, ready, failed
    Column("detail", Text, nullable=False),
    Column("data", Text, nullable=False),  # the specification for `cvzoo train --data`
    Column("counts", Text, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("created_by", String(19)),
)
Index("version_dataset", VERSION.c.dataset, VERSION.c.created_at)
FINDING = Table(
    "finding",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
    Column("digest", String(64), nullable=False),  # of what was found, so that a waiver outlives the next check
    Column("origin", String(8), nullable=False),  # import, check
    Column("kind", String(40), nullable=False),
    Column("severity", String(8), nullable=False),
    Column("meaning", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("ordinal", Integer),
    Column("object", String(40)),
    Column("others", Text, nullable=False),
    Column("state", String(8), nullable=False),  # open, waived, fixed
    Column("reason", String(400), nullable=False),
    Column("by", String(19)),
    Column("at", Integer, nullable=False),
    UniqueConstraint("dataset", "digest", name="finding_digest"),
)
Index("finding_image", FINDING.c.dataset, FINDING.c.ordinal)
# in which findings are counted; without the ordinal, as SQLite would go through it for the findings of an image
Index("finding_kind", FINDING.c.dataset, FINDING.c.severity, FINDING.c.state, FINDING.c.kind)
# what a model proposes for an image; its newest row counts, as a proposal replaces the open ones before it
SUGGESTION = Table(
    "suggestion",
    METADATA,
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("job", String(19), primary_key=True),
    Column("model", String(90), nullable=False),  # its key
    Column("objects", Text, nullable=False),  # as an image's labels; "refused" in those that are
    Column("score", Float, nullable=False),  # the largest
    Column("state", String(8), nullable=False),  # open, accepted, changed, refused
    Column("by", String(19)),
    Column("at", Integer, nullable=False),
)
Index("suggestion_state", SUGGESTION.c.dataset, SUGGESTION.c.state, SUGGESTION.c.ordinal)
TASK = Table(
    "task",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("kind", String(10), nullable=False),  # import, check, version, propose
    Column("dataset", ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("subject", String(19), nullable=False),  # the version, the job that proposes, or ""
    Column("detail", Text, nullable=False),
    Column("state", String(8), nullable=False),  # queued, running, done, failed
    Column("n_try", Integer, nullable=False),  # processes that ended without a result since the last progress
    Column("reached", Integer, nullable=False, server_default="0"),  # images that were done when the last of them ended
    Column("created_at", Integer, nullable=False),
)
Index("task_state", TASK.c.state, TASK.c.created_at)
# files that users brought; models of runs and exports are found by their folders
MODEL = Table(
    "model",
    METADATA,
    Column("id", String(19), primary_key=True),
    Column("name", String(120), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("created_by", String(19)),
    Column("trashed_at", Integer),
)
MODEL_ALIAS = Table(
    "model_alias",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("model", String(90), nullable=False),  # the key of any model
    Column("changed_at", Integer, nullable=False),
)
MODEL_NOTES = Table(
    "model_notes",
    METADATA,
    Column("model", String(90), primary_key=True),
    Column("notes", Text, nullable=False),
)
SETTING = Table(
    "setting",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)
SEEN_KEY = Table(
    "seen_key",
    METADATA,
    Column("user", ForeignKey("user.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(80), primary_key=True),
    Column("digest", String(64), nullable=False),  # SHA-256 of the request
    Column("answer", Text, nullable=False),  # JSON; "" until it is known
    Column("expires_at", Integer, nullable=False),
)
Index("seen_key_expires", SEEN_KEY.c.expires_at)
