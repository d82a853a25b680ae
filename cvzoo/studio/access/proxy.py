"""Requests that come through a reverse proxy: others could reach the server without TLS."""

import ipaddress
import typing
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from cvzoo.studio.problems import problem_response
from cvzoo.studio.settings import networks_of


class OnlyFromProxy:
    """Middleware that answers the proxy alone, and takes from its headers who the client is.

    app: what it protects; proxies: as of Settings.behind_proxy
    """

    def __init__(self, app: ASGIApp, proxies: str):
        self._networks = networks_of(proxies)
        trusted = [str(each) for each in self._networks]
        # uvicorn's types are those of asgiref, which are other names of the same
        self._app: ASGIApp = typing.cast(Any, ProxyHeadersMiddleware)(app, trusted_hosts=trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_proxy(scope):
            refused = problem_response(
                Request(scope), 403, "the server is behind a proxy, which alone is answered here"
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_proxy(self, scope: Scope) -> bool:
        client = scope.get("client")
        try:
            address = ipaddress.ip_address(client[0]) if client else None
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)  # of IPv4 on a socket of IPv6
        return any((mapped or address) in network for network in self._networks if address is not None)
