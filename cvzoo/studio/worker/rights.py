"""What processes of the studio may read: the program and their own files, or all but secrets."""

import glob
import os
import pathlib
import sys
import sysconfig

# of /etc what loaders, clocks and fonts need; of /proc nothing about other processes; of /dev no disk
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/bin", "/opt", "/sys"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/etc/localtime"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/vm"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm", "/dev/dri")
# below the user's folder: keys and passwords of other programs
_OF_USER = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".pypirc", ".git-credentials"),
    *(".config/gcloud", ".config/gh", ".cache/huggingface/token", ".password-store", ".local/share/keyrings"),
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".bash_history", ".python_history"),
)
_OF_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/ssl/private")


def program() -> list[str]:
    """What Python and cvzoo need to run: the system's programs and libraries, and their own."""
    # Python's path begins with the folder where the server was started, which is no part of the program
    own = [each for each in sys.path if each and os.path.realpath(each) != os.getcwd()]
    checkout = str(pathlib.Path(__file__).parents[3])
    return [*_SYSTEM, sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *own, checkout]


def devices() -> list[str]:
    """The devices that a computation may need."""
    return [*_DEVICES, "/dev/kfd", *glob.glob("/dev/nvidia*")]


def secrets() -> list[str]:
    """Keys and passwords of the user and of the system, which nothing that the studio starts needs."""
    home = pathlib.Path.home()
    return [*(str(home / each) for each in _OF_USER), *_OF_SYSTEM]
