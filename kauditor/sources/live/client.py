"""The only place that touches the official client: login, TLS, proxy, and its pool of connections.

What is taken from it is what it does well. Left out are its models (36 times slower than reading
the bytes), its retries, and its way with exec plugins and token files, whose failures it only logs.
A failure leaves here as a `Fault`: a kind and a few words of ours, never the text of another
library, which may quote a header.
"""

import base64
import binascii
import datetime
import ipaddress
import logging
import os
import re
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from kauditor.model.clean import clean
from kauditor.sources.live.kubeconfig import BadKubeconfig, Chosen, User, without_login

log = logging.getLogger("kauditor.sources.live")

# A token file is read again after so many seconds, as client-go does.
TOKEN_FILE_SECONDS = 60.0
# A credential is renewed so many seconds before it ends.
EXPIRY_MARGIN_SECONDS = 10.0
PIECE_BYTES = 256 * 1024

Say = Callable[[str], None]


class Fault(Exception):
    """A request got no whole answer. ``kind`` is one word, ``str()`` a few words for a sentence.

    Kinds: dns, refused, unreachable, slow-connect, slow-answer, tls, proxy, reset, cut, garbled.
    """

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind


class LoginFailed(Exception):
    """No credential could be had from the login that the kubeconfig names. One sentence."""


class Reply:
    """An answer whose body is still on its way. To be closed, or read to its end."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status = int(response.status)
        self.headers: Mapping[str, str] = response.headers

    @property
    def wire_bytes(self) -> int:
        """Bytes of the body that came over the wire so far, compressed as they came."""
        return int(self._response.tell())

    def pieces(self, until: float | None) -> Iterator[bytes]:
        """The body, decompressed, as it comes in.

        Each piece is handed on as soon as it is there, so that a body that trickles can be given
        up on: a time-out of the socket alone would begin anew with each byte.

        Raises:
            Fault: it broke off, or ``until`` (monotonic seconds) went by.
        """
        response = self._response
        try:
            while True:
                piece = response.read1(PIECE_BYTES)
                if not piece:
                    break
                yield piece
                if until is not None and time.monotonic() > until:
                    raise Fault("slow-answer", "the answer did not come to its end in time")
            response.release_conn()
        except Exception as error:
            response.close()
            raise _fault(error) from None

    def close(self) -> None:
        """Give up on the rest of the body."""
        self._response.close()


class Client:
    """One cluster, logged in to. Safe to be used by several threads."""

    def __init__(
        self,
        chosen: Chosen,
        *,
        connections: int = 4,
        say: Say | None = None,
    ) -> None:
        """Log in.

        Raises:
            BadKubeconfig: what the kubeconfig names can't be used.
            LoginFailed: the login it names gives no credential.
        """
        self._chosen = chosen
        self._connections = connections
        self._say = say or (lambda sentence: None)
        self._lock = threading.Lock()
        self._impersonation = list(impersonation(chosen.user))
        self._login = Login(chosen, self._say)
        self._configuration, self._pool = self._open()
        self.server = without_login(chosen.cluster.server.rstrip("/"))
        self._base = chosen.cluster.server.rstrip("/")

    @property
    def generation(self) -> int:
        """Grows with each new login: says whether another thread has renewed it meanwhile."""
        return self._login.generation

    @property
    def near(self) -> bool:
        """True in the cluster itself and on this machine: compression would only cost time."""
        return self._chosen.in_cluster or is_loopback(urlsplit(self._base).hostname or "")

    def send(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None = None,
        *,
        connect_seconds: float,
        read_seconds: float | None,
    ) -> Reply:
        """One request, no retries, no redirects followed.

        Raises:
            Fault: no answer came.
        """
        import urllib3

        if self._login.due():
            self._refresh()
        sent = urllib3.HTTPHeaderDict()
        for name, value in headers:
            sent.add(name, value)
        for name, value in self._impersonation:
            sent.add(name, value)
        with self._lock:
            pool = self._pool
            authorization = self._configuration.get_api_key_with_prefix("BearerToken")
        if authorization:
            sent["Authorization"] = authorization
        try:
            response = pool.urlopen(
                method,
                self._base + target,
                body=body,
                headers=sent,
                timeout=urllib3.Timeout(connect=connect_seconds, read=read_seconds),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except Exception as error:
            raise _fault(error) from None
        return Reply(response)

    def renew(self, generation: int) -> None:
        """Log in anew, unless another thread did since ``generation``.

        Raises:
            LoginFailed: no new credential could be had.
        """
        with self._lock:
            if self._login.generation == generation:
                self._login.renew()
                self._configuration, self._pool = self._open()

    def _refresh(self) -> None:
        """Look whether the credential has changed; the old one is kept where that fails."""
        with self._lock:
            if not self._login.due():
                return
            before = self._login.document()
            try:
                self._login.renew()
            except (BadKubeconfig, LoginFailed):
                log.debug("the credential could not be renewed; the old one is kept")
                self._login.postpone()
            if self._login.document() != before:
                self._configuration, self._pool = self._open()

    def _open(self) -> tuple[Any, Any]:
        return _open(self._chosen, self._login, self._connections)


class Login:
    """The credential that a user of the kubeconfig stands for, and when to fetch it anew."""

    def __init__(self, chosen: Chosen, say: Say) -> None:
        self._chosen = chosen
        self._say = say
        self.generation = 0
        self._until: float | None = None
        self._material: dict[str, Any] = {}
        self.renew()

    def renew(self) -> None:
        """Fetch the credential.

        Raises:
            BadKubeconfig: the file or plugin it comes from is not there.
            LoginFailed: the plugin refuses.
        """
        user = self._chosen.user
        material: dict[str, Any] = {}
        self._until = None
        if user.token_file:
            material["token"] = self._from_file(user)
            self._until = time.monotonic() + TOKEN_FILE_SECONDS
        elif user.token:
            material["token"] = user.token
        elif user.exec is not None:
            material.update(self._from_plugin(user.exec))
        elif user.username:
            material.update(username=user.username, password=user.password)
        if "token" in material:
            material["token"] = _one_line(str(material["token"]), self._chosen)
        self._material = material
        self.generation += 1

    def due(self) -> bool:
        """True when the credential has ended or should be looked at again."""
        return self._until is not None and time.monotonic() >= self._until

    def postpone(self) -> None:
        """Look at the credential again after a while."""
        self._until = time.monotonic() + TOKEN_FILE_SECONDS

    def document(self) -> dict[str, Any]:
        """The ``user`` of the kubeconfig that the official client is given."""
        user = self._chosen.user
        document = {
            "client-certificate": user.client_certificate,
            "client-certificate-data": user.client_certificate_data,
            "client-key": user.client_key,
            "client-key-data": user.client_key_data,
            "auth-provider": None if self._material else user.auth_provider,
            **self._material,
        }
        # An empty password is one too; without the key the client would go on as nobody.
        return {key: value for key, value in document.items() if value or key == "password"}

    def _from_file(self, user: User) -> str:
        try:
            token = Path(user.token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            if user.token:
                return user.token
            raise BadKubeconfig(
                f"tokenFile {user.token_file} of user {self._chosen.user_name!r}: can't be read; "
                "check the path and its rights."
            ) from None
        if not token:
            raise BadKubeconfig(
                f"tokenFile {user.token_file} of user {self._chosen.user_name!r}: is empty."
            )
        return token

    def _from_plugin(self, plugin: dict[str, Any]) -> dict[str, Any]:
        command = str(plugin.get("command") or "")
        if not command:
            raise BadKubeconfig(
                f"user {self._chosen.user_name!r}: its `exec` names no command; mend it."
            )
        self._say(f"logging in with {os.path.basename(command)}")
        status = self._run(command, plugin)
        expiry = _moment(status.get("expirationTimestamp"))
        if expiry is not None:
            left = expiry - time.time() - EXPIRY_MARGIN_SECONDS
            # A plugin that hands out what has ended already is not asked before each request.
            self._until = time.monotonic() + max(left, 1.0)
        material: dict[str, Any] = {}
        if status.get("token"):
            material["token"] = status["token"]
        if status.get("clientCertificateData") and status.get("clientKeyData"):
            for key, name in (
                ("client-certificate-data", "clientCertificateData"),
                ("client-key-data", "clientKeyData"),
            ):
                material[key] = base64.b64encode(str(status[name]).encode()).decode()
        if not material:
            raise LoginFailed(
                f"the login program {command} of user {self._chosen.user_name!r} gave neither a "
                "token nor a certificate with its key; run it by hand to see why."
            )
        return material

    def _run(self, command: str, plugin: dict[str, Any]) -> dict[str, Any]:
        from kubernetes.config.exec_provider import ExecProvider
        from kubernetes.config.kube_config import ConfigNode

        stated = [one for one in plugin.get("env") or [] if isinstance(one, dict)]
        tidy = {
            **{key: value for key, value in plugin.items() if value is not None},
            "args": [str(one) for one in plugin.get("args") or []],
            "env": [
                {"name": str(one.get("name")), "value": str(one.get("value") or "")}
                for one in stated
            ],
        }
        who = f"the login program {command} of user {self._chosen.user_name!r}"
        try:
            provider = ExecProvider(  # type: ignore[no-untyped-call]
                ConfigNode("exec", tidy),  # type: ignore[no-untyped-call]
                None,
                ConfigNode("cluster", _plugin_cluster(self._chosen)),  # type: ignore[no-untyped-call]
            )
            status = provider.run()  # type: ignore[no-untyped-call]
        except FileNotFoundError:
            hint = str(plugin.get("installHint") or "").strip()
            raise BadKubeconfig(
                f"{who} is not installed, or not on the PATH."
                + (f" {clean(hint, 300)}" if hint else "")
            ) from None
        except PermissionError:
            raise BadKubeconfig(f"{who} may not be run; check its rights.") from None
        except Exception as error:
            # stderr of the program is in the message, and is all that says what is wrong.
            words = without_secrets(clean(str(error), 400)).removeprefix("exec: ").rstrip(".")
            raise LoginFailed(f"{who} failed: {words}; log in again.") from None
        if not isinstance(status, dict):
            raise LoginFailed(f"{who} gave no status; run it by hand to see why.")
        return status


def is_loopback(host: str) -> bool:
    """True for this machine: such addresses are never asked through a proxy of the environment."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def impersonation(user: User) -> Iterator[tuple[str, str]]:
    """The headers that make the server answer as if somebody else had asked.

    The official client knows none of this: it would scan as the user who logs in.
    """
    if user.as_user:
        yield "Impersonate-User", _header(user.as_user)
    if user.as_uid:
        yield "Impersonate-Uid", _header(user.as_uid)
    for group in user.as_groups:
        yield "Impersonate-Group", _header(group)
    for key, values in user.as_user_extra.items():
        for value in values:
            yield f"Impersonate-Extra-{quote(key.lower(), safe='!#$&*+-.^_`|~')}", _header(value)


def without_secrets(text: str) -> str:
    """The text with everything that looks like a token or a password in it taken out."""
    text = re.sub(r"[A-Za-z0-9+/_=.-]{32,}", "…", text)
    return re.sub(r"(?i)((?:token|password|secret|bearer)\W{1,3})\S+", r"\1…", text)


def _header(value: str) -> str:
    if re.search(r"[\x00-\x1f\x7f]", value):
        raise BadKubeconfig("a name to impersonate holds control characters; mend it.")
    # http.client writes Latin-1; the server reads UTF-8.
    return value.encode("utf-8").decode("latin-1")


def _one_line(token: str, chosen: Chosen) -> str:
    token = token.strip()
    # http.client would refuse it with an error that quotes the whole header.
    if re.search(r"[^\x21-\x7e]", token):
        raise BadKubeconfig(
            f"the token of user {chosen.user_name!r} holds characters that no token has; mend it."
        )
    return token


def _moment(text: Any) -> float | None:
    if isinstance(text, datetime.datetime):
        return text.timestamp()
    if not isinstance(text, str):
        return None
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _cluster_document(chosen: Chosen) -> dict[str, Any]:
    """The ``cluster`` of a kubeconfig, as it is after all flags."""
    cluster = chosen.cluster
    document: dict[str, Any] = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "proxy-url": cluster.proxy_url,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
    }
    if not cluster.insecure_skip_tls_verify:
        # kubectl refuses a cluster with both; without verification the authority means nothing.
        document["certificate-authority-data"] = cluster.certificate_authority_data
        if not cluster.certificate_authority_data:
            document["certificate-authority"] = cluster.certificate_authority
    return {key: value for key, value in document.items() if value}


def _plugin_cluster(chosen: Chosen) -> dict[str, Any]:
    document = _cluster_document(chosen)
    if chosen.cluster.extensions:
        document["extensions"] = list(chosen.cluster.extensions)
    return document


def _open(chosen: Chosen, login: Login, connections: int) -> tuple[Any, Any]:
    """The official client's configuration, which keeps the token, and its pool."""
    from kubernetes import client, config

    document = {
        "current-context": "chosen",
        "contexts": [{"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{"name": "chosen", "cluster": _cluster_document(chosen)}],
        "users": [{"name": "chosen", "user": login.document()}],
    }
    _check_files(chosen)
    configuration = client.Configuration()
    configuration.connection_pool_maxsize = connections
    # The client writes keys into files and removes them at a normal exit only. Here they live as
    # long as it takes to load them.
    with tempfile.TemporaryDirectory(prefix="kauditor-") as folder:
        try:
            # Overrides stand in the document: the client's token hook writes the address and the
            # trust of the document back before each request, over whatever was set afterwards.
            config.load_kube_config_from_dict(  # type: ignore[no-untyped-call]
                document,
                client_configuration=configuration,
                persist_config=False,
                temp_file_path=folder,
            )
        except (binascii.Error, ValueError):
            raise BadKubeconfig(
                f"a certificate, key or token of context {chosen.context!r} is not base64 or not "
                "readable; mend the kubeconfig."
            ) from None
        except Exception:
            if chosen.user.auth_provider is None:
                raise BadKubeconfig(
                    f"the credential of user {chosen.user_name!r} can't be used; mend the "
                    "kubeconfig."
                ) from None
            raise _no_provider_token(chosen) from None
        if login.document().get("auth-provider") and not configuration.api_key:
            # The client would go on as nobody.
            raise _no_provider_token(chosen)
        context = _tls_context(configuration, chosen)
    _set_proxy(configuration, chosen)
    return configuration, _pool(client, configuration, context)


def _pool(client: Any, configuration: Any, context: ssl.SSLContext | None) -> Any:
    try:
        pool = client.ApiClient(configuration).rest_client.pool_manager
    except Exception:
        raise BadKubeconfig(
            f"the proxy {without_login(str(configuration.proxy))} can't be used: an address like "
            "http://HOST:PORT is needed, and socks5:// needs the package PySocks."
        ) from None
    if context is not None:
        pool.connection_pool_kw["ssl_context"] = context
        for loaded in ("ca_certs", "ca_cert_data", "cert_file", "key_file"):
            pool.connection_pool_kw.pop(loaded, None)
    if not configuration.verify_ssl:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return pool


def _no_provider_token(chosen: Chosen) -> Exception:
    provider = (chosen.user.auth_provider or {}).get("name")
    if provider == "oidc":
        return LoginFailed(
            f"user {chosen.user_name!r} logs in through OpenID Connect, and its id-token is not "
            "valid and could not be renewed; log in again, or give --token."
        )
    return LoginFailed(
        f"user {chosen.user_name!r} logs in through the auth-provider {provider!r}, which gives "
        "no token any more; use the exec plugin of your cloud, or give --token."
    )


def _check_files(chosen: Chosen) -> None:
    cluster, user = chosen.cluster, chosen.user
    wanted = [
        ("client-certificate", "" if user.client_certificate_data else user.client_certificate),
        ("client-key", "" if user.client_key_data else user.client_key),
    ]
    if not cluster.insecure_skip_tls_verify and not cluster.certificate_authority_data:
        wanted.append(("certificate-authority", cluster.certificate_authority))
    if not cluster.server.lower().startswith("https"):
        return
    for key, path in wanted:
        if path and not os.path.isfile(path):
            raise BadKubeconfig(
                f"{key} {path} of context {chosen.context!r}: there is no such file; mend the path."
            )


def _tls_context(configuration: Any, chosen: Chosen) -> ssl.SSLContext | None:
    """Trust and certificate, loaded once: here it can be said which is wrong, and nobody asked."""
    if not chosen.cluster.server.lower().startswith("https"):
        return None
    from urllib3.util.ssl_ import create_urllib3_context

    context = create_urllib3_context(
        cert_reqs=ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
    )
    # On by default from Python 3.13 on; kubectl takes authorities without a key identifier.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
    elif configuration.ssl_ca_cert:
        try:
            context.load_verify_locations(configuration.ssl_ca_cert)
        except (OSError, ssl.SSLError):
            raise BadKubeconfig(
                f"the certificate-authority of cluster {chosen.cluster_name!r} is no PEM "
                "certificate; mend it."
            ) from None
    else:
        context.load_default_certs()
    if configuration.cert_file:
        asked = []

        def password() -> str:
            asked.append(True)
            return ""

        try:
            context.load_cert_chain(
                configuration.cert_file, configuration.key_file, password=password
            )
        except (OSError, ValueError):
            what = (
                "the key is encrypted, and nobody is asked for a password"
                if asked
                else "they are no PEM, or do not belong together"
            )
            raise BadKubeconfig(
                f"the client certificate and key of user {chosen.user_name!r} can't be used: "
                f"{what}; mend the kubeconfig."
            ) from None
    return context


def _set_proxy(configuration: Any, chosen: Chosen) -> None:
    if chosen.cluster.proxy_url:
        # As kubectl: what the kubeconfig names is used always, whatever NO_PROXY says.
        configuration.no_proxy = None
    elif is_loopback(urlsplit(chosen.cluster.server).hostname or ""):
        configuration.proxy = None
    if configuration.proxy:
        import urllib3

        parts = urlsplit(configuration.proxy)
        if parts.username and parts.scheme in ("http", "https"):
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=login)


def _fault(error: Exception) -> Exception:
    """What went wrong, in our words."""
    import http.client

    from urllib3 import exceptions as http_errors

    if isinstance(error, Fault):
        return error
    if isinstance(error, http_errors.ProxyError):
        return Fault("proxy", "the proxy refused to connect or could not be reached")
    if isinstance(error, (http_errors.SSLError, ssl.SSLError)):
        return Fault("tls", f"TLS failed: {_tls_words(error)}")
    if isinstance(error, http_errors.NameResolutionError):
        return Fault("dns", "its name is not known here")
    # A kind of ConnectTimeoutError in urllib3 2, whatever the reason.
    if isinstance(error, http_errors.NewConnectionError):
        return _connection_fault(error)
    if isinstance(error, http_errors.ConnectTimeoutError):
        return Fault("slow-connect", "no connection came about in time")
    if isinstance(error, (http_errors.ReadTimeoutError, TimeoutError)):
        return Fault("slow-answer", "no answer came in time")
    if isinstance(error, (http_errors.IncompleteRead, http.client.IncompleteRead)):
        return Fault("cut", "the answer was cut short")
    if isinstance(error, http_errors.DecodeError):
        return Fault("garbled", "the compressed answer can't be read")
    if isinstance(error, http_errors.ProtocolError):
        cut = "IncompleteRead" in str(error)
        return Fault(
            "cut" if cut else "reset",
            "the answer was cut short" if cut else "the connection broke off",
        )
    if isinstance(error, (http_errors.HTTPError, OSError, http.client.HTTPException)):
        return Fault("reset", f"the connection broke off ({type(error).__name__})")
    if isinstance(error, (ValueError, AttributeError)):
        return Fault("garbled", f"the answer can't be read ({type(error).__name__})")
    return error


def _connection_fault(error: Exception) -> Fault:
    text = str(error)
    if "refused" in text:
        return Fault("refused", "the connection was refused")
    if "unreachable" in text or "No route" in text:
        return Fault("unreachable", "there is no way to it from here")
    return Fault("refused", "no connection could be made")


_TLS_WORDS = (
    ("self-signed certificate in", "its certificate comes from an authority that is not trusted"),
    ("self signed certificate in", "its certificate comes from an authority that is not trusted"),
    ("self-signed", "its certificate is signed by itself"),
    ("self signed", "its certificate is signed by itself"),
    ("unable to get local issuer", "its certificate comes from an authority that is not trusted"),
    ("certificate signature failure", "its certificate was signed by another authority"),
    ("certificate has expired", "its certificate has expired"),
    ("not yet valid", "its certificate is not valid yet; compare the clocks"),
    ("doesn't match", "its certificate is for another name"),
    ("Hostname mismatch", "its certificate is for another name"),
    ("IP address mismatch", "its certificate is for another address"),
    ("Missing Authority Key", "its certificate lacks an authority key identifier"),
    ("WRONG_VERSION_NUMBER", "it does not speak TLS; is the address https?"),
    ("alert certificate required", "it wants a client certificate"),
    ("alert bad certificate", "it refused the client certificate"),
    ("alert unknown ca", "it does not trust the client certificate"),
    ("alert certificate unknown", "it refused the client certificate"),
    ("HANDSHAKE_FAILURE", "it refused the handshake"),
)


def _tls_words(error: Exception) -> str:
    text = str(error)
    for mark, words in _TLS_WORDS:
        if mark.lower() in text.lower():
            return words
    if "UNEXPECTED_EOF" in text or "EOF occurred" in text:
        return "it broke off the handshake"
    return "the handshake was refused"
