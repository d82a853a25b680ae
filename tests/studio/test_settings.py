"""What is served where."""

import pytest

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.settings import Settings, is_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.5", "::", "studio.example.org"])
def test_another_address_is_not_served_without_tls(tmp_path, host):
    with pytest.raises(ConfigError, match="without TLS"):
        Settings(home=tmp_path, host=host)
    assert Settings(home=tmp_path, host=host, behind_proxy="10.0.0.1", hostnames=("a.example.org",)).is_https


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]"])
def test_all_addresses_need_a_name(tmp_path, host):
    with pytest.raises(ConfigError, match="no address by which a browser"):
        Settings(home=tmp_path, host=host, behind_proxy="10.0.0.1")
    names = Settings(home=tmp_path, host=host, behind_proxy="10.0.0.1", hostnames=("A.example.org",)).allowed_hosts
    assert names == {"a.example.org"}  # a page of another site can reach 0.0.0.0


@pytest.mark.parametrize("proxy", ["*", "", "nginx", "10.0.0.1, *", "0x7f000001", "10.0.0.0/33"])
def test_a_proxy_is_an_address(tmp_path, proxy):
    with pytest.raises(ConfigError, match="not the address of a proxy"):
        Settings(home=tmp_path, behind_proxy=proxy)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_is_served_as_it_is(tmp_path, host):
    assert is_loopback(host)
    assert not Settings(home=tmp_path, host=host).is_https


def test_a_certificate_needs_its_key(tmp_path):
    (tmp_path / "c.pem").write_text("")
    with pytest.raises(ConfigError, match="given together"):
        Settings(home=tmp_path, tls_cert=tmp_path / "c.pem")
    with pytest.raises(ConfigError, match="no such file"):
        Settings(home=tmp_path, tls_cert=tmp_path / "c.pem", tls_key=tmp_path / "k.pem")


def test_a_watched_folder_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="no such folder"):
        Settings(home=tmp_path, watch=(tmp_path / "nowhere",))
