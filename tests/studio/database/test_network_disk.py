"""The database is refused on network disks, by the type of the file system."""

import pytest

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.database.network_disk import file_system_of, require_local_disk

MOUNTS = r"""
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:40 / /far rw - nfs4 server:/far rw
24 23 0:41 / /far/local rw shared:1 - xfs /dev/sdb rw
25 22 0:42 / /disks/my\040disk rw - fuse.sshfs ada@server: rw
26 22 0:43 / /disks/usb rw - fuse.ntfs-3g /dev/sdc rw
27 22 0:44 / /fars rw - btrfs /dev/sdd rw
28 22 0:45 / /twice rw - ext4 /dev/sde rw
29 22 0:46 / /twice rw - cifs //server/share rw
a malformed line
"""


@pytest.fixture
def mounts(tmp_path):
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/studio", "ext4"),
        ("/far/ada/studio", "nfs4"),
        ("/far", "nfs4"),
        ("/far/local/studio", "xfs"),
        ("/fars/ada", "btrfs"),
        ("/disks/my disk/studio", "fuse.sshfs"),
        ("/disks/usb/studio", "fuse.ntfs-3g"),
        ("/twice/studio", "cifs"),
    ],
)
def test_the_mount_that_is_nearest_and_latest_decides(mounts, path, kind):
    assert file_system_of(path, mounts) == kind
    if kind in ("nfs4", "cifs", "fuse.sshfs"):
        with pytest.raises(ConfigError, match="network disk"):
            require_local_disk(path, mounts)
    else:
        require_local_disk(path, mounts)


def test_a_system_that_does_not_say_is_not_refused(tmp_path):
    require_local_disk(tmp_path, tmp_path / "nothing")


def test_this_machine_s_folder_for_tests_has_a_type(tmp_path):
    assert file_system_of(tmp_path) or not file_system_of("/")
