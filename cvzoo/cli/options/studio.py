"""`cvzoo studio`: show trainings in the browser, live."""

import argparse

from cvzoo.cli.option_values import positive
from cvzoo.studio.access.roles import ROLES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "A web application that shows the runs below folders, live: curves, scores by class, predictions, reports, "
        "comparisons. Serves this machine only unless TLS or a proxy is named."
    )
    parser.epilog = 'Needs the extra: pip install "cvzoo[studio]"'
    parser.add_argument(
        "--watch", action="append", default=[], metavar="DIR", help="show the runs below this folder; may be repeated"
    )
    parser.add_argument("--listen", metavar="HOST:PORT", help="the address to serve (default: 127.0.0.1:8700)")
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate for HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="key of the certificate")
    parser.add_argument(
        "--behind-proxy", metavar="ADDRESS", help="address of a reverse proxy with TLS, whose headers are trusted"
    )
    parser.add_argument(
        "--hostname",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which browsers may address the server; may be repeated",
    )
    parser.add_argument("--home", metavar="DIR", help="the studio's own folder (default: studio below CVZOO_HOME)")
    parser.add_argument("--no-browser", action="store_true", help="only print the link")
    actions = parser.add_subparsers(metavar="ACTION", title="actions", dest="action")
    actions.add_parser("open", help="print a new one-time link to the running server", allow_abbrev=False)
    token = actions.add_parser(
        "token", help="print a token for programs that use the REST interface", allow_abbrev=False
    )
    token.add_argument("name", metavar="NAME", help="what the token is for")
    token.add_argument("--scope", choices=("read", "write"), default="read", help="what it may do (default: read)")
    token.add_argument("--days", type=positive, default=90, metavar="N", help="days until it expires (default: 90)")
    token.add_argument("--revoke", action="store_true", help="revoke the tokens of this name")
    user = actions.add_parser("user", help="add, list, change and disable users", allow_abbrev=False)
    changes = user.add_subparsers(metavar="CHANGE", title="changes", dest="change", required=True)
    changes.add_parser("list", help="print the users with their roles", allow_abbrev=False)
    add = changes.add_parser("add", help="add a user, and print a one-time link", allow_abbrev=False)
    role = changes.add_parser("role", help="give a user another role", allow_abbrev=False)
    link = changes.add_parser(
        "link", help="print a one-time link; the password, sessions and tokens are removed", allow_abbrev=False
    )
    disable = changes.add_parser("disable", help="end the sessions, links and tokens of a user", allow_abbrev=False)
    activate = changes.add_parser("activate", help="allow a disabled user to sign in again", allow_abbrev=False)
    for each in (add, role, link, disable, activate):
        each.add_argument("name", metavar="NAME", help="of the user")
    add.add_argument("--role", choices=ROLES, default="viewer", help="what the user may do (default: viewer)")
    role.add_argument("role", choices=ROLES, help="what the user may do from now on")
    backup = actions.add_parser(
        "backup",
        help="copy the database and the studio's own files, while it runs, too; the copy is read back",
        allow_abbrev=False,
    )
    backup.add_argument("file", metavar="FILE", help="the tar file to write; an existing one is not replaced")
    backup.add_argument(
        "--incomplete",
        action="store_true",
        help="keep the copy if files that the database names are missing or damaged",
    )
    restore = actions.add_parser(
        "restore", help="unpack a backup as the studio's folder, which must be empty or missing", allow_abbrev=False
    )
    restore.add_argument("file", metavar="FILE", help="the backup")
    actions.add_parser(
        "verify",
        help="hash all files again and compare them with the database, while the server runs, too; exit status 1 if "
        "something is damaged or missing",
        allow_abbrev=False,
    )
    collect = actions.add_parser(
        "collect",
        help="remove what nothing refers to any more, and what is in the trash for 30 days, while the server runs, too",
        allow_abbrev=False,
    )
    collect.add_argument("--dry", action="store_true", help="only print what it would remove")
    _add_client(actions)
    migrate = actions.add_parser(
        "migrate",
        help="bring the database to this version's schema, after a copy; a server does so, too",
        allow_abbrev=False,
    )
    migrate.add_argument("--check", action="store_true", help="only say whether it would; exit status 1 if so")
    actions.add_parser(
        "reindex",
        help="add jobs and data sets whose files are there and which the database lacks; no server may be running",
        allow_abbrev=False,
    )


def _add_client(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The actions that ask a running studio: CVZOO_STUDIO=URL, and a token in CVZOO_STUDIO_TOKEN_FILE."""
    listed = actions.add_parser("list", help="list the runs of a running studio", allow_abbrev=False)
    listed.add_argument("--state", default="", help="only runs in this state")
    listed.add_argument("--text", default="", help="only runs with these words in name, recipe, data or tags")
    shown = actions.add_parser("show", help="print what is known of a run", allow_abbrev=False)
    log = actions.add_parser("log", help="print the output of a job's last attempt", allow_abbrev=False)
    log.add_argument("-f", "--follow", action="store_true", help="and what comes, until the job has ended")
    asked = [
        actions.add_parser(name, help=text, allow_abbrev=False)
        for name, text in (
            ("pause", "save a snapshot and free the machine; resume continues with the same bits"),
            ("resume", "queue a paused job again"),
            ("stop", "save a snapshot and end the job"),
            ("kill", "end the job at once"),
            ("retry", "resume a stopped or failed job from its last snapshot"),
            ("dump", "have the processes of a job write their stacks into its output, and go on"),
        )
    ]
    pull = actions.add_parser("pull", help="download the files of a run", allow_abbrev=False)
    for each in (shown, log, *asked, pull):
        each.add_argument("job", metavar="JOB", help="its identifier, or its name")
    pull.add_argument("folder", metavar="DIR", help="a new or empty folder")
    pull_data = actions.add_parser(
        "pull-data", help="copy a version of a data set, check it, and print what --data names", allow_abbrev=False
    )
    pull_data.add_argument("version", metavar="VERSION", help="its identifier, or DATASET/NAME")
    pull_data.add_argument("folder", metavar="DIR", help="a new or empty folder; an interrupted copy continues")
    imported = actions.add_parser(
        "import", help="import data of the server's machine, and print the identifier", allow_abbrev=False
    )
    imported.add_argument("spec", metavar="SPEC", help="as of cvzoo train --data, or a folder")
    imported.add_argument("--name", required=True, metavar="TEXT", help="of the data set")
    version = actions.add_parser(
        "version", help="make a version of a data set, and print what --data names", allow_abbrev=False
    )
    version.add_argument("dataset", metavar="DATASET", help="its identifier, or its name")
    version.add_argument("--name", required=True, metavar="TEXT", help="of the version")
    submit = actions.add_parser("submit", help="queue a job, and print its identifier", allow_abbrev=False)
    submit.add_argument("--recipe", metavar="NAME", help="of cvzoo train --list")
    submit.add_argument("--data", metavar="SPEC", help="as of cvzoo train, on the server's machine")
    submit.add_argument("--name", default="", metavar="TEXT", help="for people (default: that of the recipe)")
    submit.add_argument("--draft", action="store_true", help="save it without starting it")
    submit.add_argument(
        "settings",
        nargs="*",
        metavar="KEY=VALUE",
        help="settings of the recipe; or, without --recipe and --data, one FILE.json with the specification of a job",
    )
