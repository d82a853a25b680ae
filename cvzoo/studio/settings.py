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
    behind_proxy: address of a reverse proxy, or a network or several with commas between them, whose headers about the
        client are trusted; others are not answered
    hostnames: further names by which browsers may address the server
    open_browser: whether the link is opened at the start

    Raises ConfigError if another address than this machine's own is to be served without TLS or a proxy, or if all
    addresses are and no host name is given.
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
        if self.behind_proxy is not None:
            networks_of(self.behind_proxy)
        if _is_unspecified(self.host) and not self.hostnames:
            raise ConfigError(
                f"{self.host} is no address by which a browser should name the server",
                hint="--hostname NAME of the server or its proxy, or one address: --listen 10.0.0.5:8700",
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
        own = set() if _is_unspecified(self.host) else {url_host(self.host).lower()}
        own |= {"127.0.0.1", "localhost", "[::1]"} if is_loopback(self.host) else set()
        return frozenset(own | {name.lower() for name in self.hostnames})


def url_host(host: str) -> str:
    """The host as an address of the web has it: IPv6 in brackets, and shortened, as browsers do."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host
    return f"[{address.compressed}]" if address.version == 6 else str(address)


def networks_of(text: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of `--behind-proxy`. Raises ConfigError."""
    try:
        return [ipaddress.ip_network(each.strip()) for each in text.split(",")]
    except ValueError:
        raise ConfigError(
            f"--behind-proxy {text[:80]}: not the address of a proxy",
            expected="such as 10.0.0.1, 10.0.0.0/24 or ::1",
        ) from None


def _is_unspecified(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether the address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
