"""All options of the server."""

import dataclasses
import ipaddress
import pathlib

from cvzoo.errors.exceptions import ConfigError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `cvzoo studio`.

    home: the studio's own folder
    host, port: the address that is served; port None: 8700, or a free one if that is in use
    watch: folders with runs that the command line made; nothing is written to them
    tls_cert, tls_key: files for HTTPS
    behind_proxy: address of a reverse proxy, whose headers about the client are trusted
    hostnames: further names by which browsers may address the server
    open_browser: whether the link is opened at the start

    Raises ConfigError if another address than this machine's own is to be served without TLS or a proxy.
    """

    home: pathlib.Path
    host: str = "127.0.0.1"
    port: int | None = None
    watch: tuple[pathlib.Path, ...] = ()
    tls_cert: pathlib.Path | None = None
    tls_key: pathlib.Path | None = None
    behind_proxy: str | None = None
    hostnames: tuple[str, ...] = ()
    open_browser: bool = True

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ConfigError("--tls-cert and --tls-key must be given together")
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not path.is_file():
                raise ConfigError(f"{path}: there is no such file")
        if not is_loopback(self.host) and not self.has_tls and self.behind_proxy is None:
            raise ConfigError(
                f"{self.host} is served without TLS: passwords and images could be read by others",
                expected="127.0.0.1, or TLS",
                hint="--tls-cert C.pem --tls-key K.pem, or --behind-proxy ADDRESS of a proxy that has TLS",
            )
        for folder in self.watch:
            if not folder.is_dir():
                raise ConfigError(f"{folder}: there is no such folder to watch")

    @property
    def has_tls(self) -> bool:
        return self.tls_cert is not None

    @property
    def is_https(self) -> bool:
        """Whether browsers see HTTPS: by the server itself, or by the proxy before it."""
        return self.has_tls or self.behind_proxy is not None

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """The names that a request's Host header may have, in lower case, without ports."""
        own = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(self.host) else {self.host.lower()}
        return frozenset(own | {name.lower() for name in self.hostnames})


def is_loopback(host: str) -> bool:
    """Whether the address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
