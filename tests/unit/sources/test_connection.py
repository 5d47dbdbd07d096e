"""Logging in: what reaches the server, and what is said when it can't be reached."""

import base64
import datetime
import json
import logging
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kauditor import __version__
from kauditor.model.source import Grant, Listing, Page, Refusal
from kauditor.sources.live import client as clients
from kauditor.sources.live.connection import (
    BadKubeconfig,
    ConnectError,
    ConnectOptions,
    Unreachable,
    connect,
)
from kauditor.sources.live.source import LiveSource
from tests.conftest import ROOT
from tests.unit.sources.server import Keys, Paged, Says, Server, listed, page, serving, status

PODS = Listing("v1", "pods", dict)
HEALTH = Page("/healthz", Grant(verbs=("get",), path="/healthz"))
Opened = Callable[..., LiveSource]
Write = Callable[..., str]
SECRET = "sesame-sesame-sesame"


def failing(**options: Any) -> str:
    with pytest.raises(Unreachable) as caught:
        connect(ConnectOptions(qps=0, **options))
    assert isinstance(caught.value, ConnectError)
    return str(caught.value)


def test_every_request_says_who_asks(server: Server, opened: Opened) -> None:
    server.says("/api/v1/pods", Paged(1200))
    source = opened()
    list(source.pages(PODS))
    source.where()
    assert {one.header("User-Agent") for one in server.asked} == {f"kauditor/{__version__}"}
    assert {one.header("Authorization") for one in server.asked} == {f"Bearer {SECRET}"}
    assert {one.method for one in server.asked} == {"GET", "POST"}
    posts = {one.path for one in server.asked if one.method == "POST"}
    assert posts == {"/apis/authentication.k8s.io/v1/selfsubjectreviews"}


def test_importing_the_sources_loads_neither_the_client_nor_its_pool() -> None:
    code = (
        "import sys; import kauditor.sources.live.connection, kauditor.sources.metrics_text; "
        "print([m for m in ('kubernetes', 'urllib3', 'requests', 'pydantic') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == "[]"


def test_the_official_clients_models_are_never_loaded() -> None:
    code = (
        "import sys; from kauditor.sources.live.client import Client; "
        "from kauditor.sources.live.kubeconfig import *; "
        "Client(choose(Kubeconfig(), Overrides(server='http://127.0.0.1:1', token='t'))); "
        "print([m for m in sys.modules if m.startswith('kubernetes.client.api.')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == "[]"


# Who reads.


def test_impersonation_of_the_kubeconfig_is_honoured(server: Server, opened: Opened) -> None:
    opened(
        with_user={
            "token": SECRET,
            "as": "jürgen",
            "as-uid": "42",
            "as-groups": ["readers", "auditors"],
            "as-user-extra": {"Team/A b": ["x", "y"]},
        }
    )
    (asked,) = server.requests("/version")
    assert asked.header("Impersonate-User").encode("latin-1").decode() == "jürgen"
    assert asked.header("Impersonate-Uid") == "42"
    assert asked.all_headers("Impersonate-Group") == ["readers", "auditors"]
    assert asked.all_headers("Impersonate-Extra-team%2Fa%20b") == ["x", "y"]
    assert asked.header("Authorization") == f"Bearer {SECRET}"


def test_impersonation_flags_go_before_the_kubeconfig(server: Server, opened: Opened) -> None:
    user = {"token": SECRET, "as": "root", "as-groups": ["system:masters"]}
    source = opened(
        with_user=user, as_user="bob", as_user_extra={"scope": ("audit",)}, as_groups=("g",)
    )
    (asked,) = server.requests("/version")
    assert asked.header("Impersonate-User") == "bob"
    assert asked.all_headers("Impersonate-Group") == ["g"]
    assert asked.header("Impersonate-Extra-scope") == "audit"
    server.says("/apis/authentication.k8s.io/v1/selfsubjectreviews", Says(status(404), 404))
    assert source.identity() == "bob"


def test_a_name_that_would_forge_a_header_is_refused(opened: Opened) -> None:
    with pytest.raises(BadKubeconfig, match="control characters"):
        opened(as_user="bob\r\nImpersonate-Group: system:masters")


def test_a_password_is_sent_as_basic_login(server: Server, opened: Opened) -> None:
    opened(with_user={"username": "admin", "password": "x:y"})
    expected = "Basic " + base64.b64encode(b"admin:x:y").decode()
    assert server.asked[0].header("Authorization") == expected


def test_a_context_without_a_login_asks_as_nobody(server: Server, opened: Opened) -> None:
    opened(with_user={})
    assert server.asked[0].header("Authorization") == ""


def test_a_token_file_is_read_without_its_line_break_and_read_again(
    server: Server, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    monkeypatch.setattr(clients, "TOKEN_FILE_SECONDS", 0.0)
    server.says("/healthz", Says(b"ok"))
    source = opened(with_user={"tokenFile": "token"})
    token.write_text("second\n")
    source.body(HEALTH)
    token.unlink()
    source.body(HEALTH)
    seen = [one.header("Authorization") for one in server.asked]
    assert seen == ["Bearer first", "Bearer second", "Bearer second"]


def test_a_401_makes_the_token_file_be_read_at_once(
    server: Server, opened: Opened, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    source = opened(with_user={"tokenFile": "token"})
    token.write_text("new")
    server.says("/healthz", Says(status(401), 401), Says(b"ok"))
    assert source.body(HEALTH) == b"ok"
    assert server.asked[-1].header("Authorization") == "Bearer new"


def test_a_missing_token_file_is_named(opened: Opened) -> None:
    with pytest.raises(BadKubeconfig, match=r"tokenFile .*missing of user 'reader': can't be read"):
        opened(with_user={"tokenFile": "missing"})


def test_overrides_outlive_the_clients_token_hook(server: Server, write: Write, keys: Keys) -> None:
    """The official client writes address and trust back from the kubeconfig at each request."""
    path = write("https://10.255.255.1:6443", {"token": SECRET})
    server.says("/healthz", Says(b"ok"))
    source = connect(ConnectOptions(kubeconfig=path, server=server.url, qps=0))
    for _ in range(3):
        source.body(HEALTH)
    assert len(server.requests("/healthz")) == 3
    assert source.where().server == server.url


def test_a_server_below_a_path_is_asked_there(server: Server, write: Write) -> None:
    server.says("/k8s/clusters/c-1/version", Says({"gitVersion": "v1.34.2"}))
    server.says("/k8s/clusters/c-1/api/v1/pods", Paged(2))
    path = write(server.url + "/k8s/clusters/c-1/")
    source = connect(ConnectOptions(kubeconfig=path, qps=0))
    assert len(listed(list(source.pages(PODS)))) == 2


# Login programs.


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    def written(body: str, **more: Any) -> dict[str, Any]:
        program = tmp_path / "login-program"
        program.write_text(f"#!{sys.executable}\nimport json, os, sys\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "./login-program",
                "interactiveMode": "Never",
                **more,
            }
        }

    return written


ANSWER = """
def answer(**status):
    print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                      "status": status}))
"""


def test_a_login_program_gives_the_token(
    server: Server, opened: Opened, plugin: Callable[..., dict[str, Any]]
) -> None:
    said: list[str] = []
    user = plugin(
        ANSWER + "answer(token=os.environ['PART'] + sys.argv[1])",
        args=["-word with spaces"],
        env=[{"name": "PART", "value": "from-environment"}],
        provideClusterInfo=True,
    )
    user["exec"]["args"] = ["two"]
    opened(with_user=user)
    assert server.asked[0].header("Authorization") == "Bearer from-environmenttwo"
    assert said == []


def test_a_login_program_is_announced(
    server: Server, write: Write, plugin: Callable[..., dict[str, Any]]
) -> None:
    path = write(server.url, plugin(ANSWER + "answer(token='t')", args=None, env=None))
    said: list[str] = []
    connect(ConnectOptions(kubeconfig=path, qps=0), progress=said.append)
    assert said == ["logging in with login-program"]


def test_a_token_that_ends_is_renewed_before_it_does(
    server: Server, opened: Opened, plugin: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    soon = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=5)).isoformat()
    count = tmp_path / "count"
    body = f"open({str(count)!r}, 'a').write('x'); n = len(open({str(count)!r}).read())\n"
    user = plugin(ANSWER + body + f"answer(token=f'token{{n}}', expirationTimestamp={soon!r})")
    server.says("/healthz", Says(b"ok"))
    source = opened(with_user=user)
    threading.Event().wait(1.1)
    source.body(HEALTH)
    assert server.asked[-1].header("Authorization") == "Bearer token2"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit('no session for you')", "no session for you"),
        (f"sys.exit('token={SECRET} has expired')", "has expired"),
        ("print('hello')", "failed to decode"),
        ("print('{}')", "missing key"),
        (ANSWER + "answer()", "gave neither a token nor a certificate"),
        (ANSWER + "answer(clientCertificateData='x')", "gave neither a token nor a certificate"),
    ],
)
def test_a_login_program_that_fails_is_one_sentence(
    opened: Opened, plugin: Callable[..., dict[str, Any]], body: str, words: str
) -> None:
    with pytest.raises(Unreachable, match=words) as caught:
        opened(with_user=plugin(body))
    assert "login-program of user 'reader'" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_login_program_that_is_not_there_is_named_with_its_hint(opened: Opened) -> None:
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "no-such-login-program",
            "installHint": "Install it from your shop.",
        }
    }
    with pytest.raises(BadKubeconfig, match=r"not on the PATH\. Install it from your shop\."):
        opened(with_user=user)


def jwt(expires_in: float) -> str:
    def part(document: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")

    now = datetime.datetime.now().timestamp()
    return f"{part({'alg': 'none'})}.{part({'exp': now + expires_in})}.c2ln"


def test_a_valid_oidc_token_is_sent(server: Server, opened: Opened) -> None:
    token = jwt(3600)
    opened(with_user={"auth-provider": {"name": "oidc", "config": {"id-token": token}}})
    assert server.asked[0].header("Authorization") == f"Bearer {token}"


@pytest.mark.parametrize(
    "provider",
    [
        {"name": "oidc", "config": {"id-token": "no-jwt"}},
        {"name": "oidc", "config": {}},
        {"name": "oidc"},
        {"name": "gcp", "config": {"access-token": "x", "expiry": "2019-02-19T11:07:29Z"}},
        {"name": "azure", "config": {}},
    ],
)
def test_a_provider_that_gives_no_token_is_never_taken_for_nobody(
    server: Server, opened: Opened, provider: dict[str, Any]
) -> None:
    with pytest.raises(Unreachable, match="give --token"):
        opened(with_user={"auth-provider": provider})
    assert not server.asked


# TLS.


def trusted(keys: Keys) -> dict[str, str]:
    return {"certificate-authority": str(keys.folder / "ca.crt")}


def test_a_trusted_server_is_spoken_to(tls_server: Server, write: Write, keys: Keys) -> None:
    tls_server.says("/api/v1/pods", Paged(700))
    path = write(tls_server.url, {"token": SECRET}, **trusted(keys))
    source = connect(ConnectOptions(kubeconfig=path, qps=0))
    assert len(listed(list(source.pages(PODS)))) == 700


def test_trust_given_as_data_leaves_no_file_behind(
    tls_server: Server,
    write: Write,
    keys: Keys,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = base64.b64encode((keys.folder / "ca.crt").read_bytes()).decode()
    before = set(os.listdir(tmp_path))
    path = write(tls_server.url, {"token": SECRET}, **{"certificate-authority-data": data})
    connect(ConnectOptions(kubeconfig=path, qps=0))
    assert set(os.listdir(tmp_path)) - before == {"config"}


def test_an_untrusted_server_is_refused_in_one_sentence(tls_server: Server, write: Write) -> None:
    text = failing(kubeconfig=write(tls_server.url, {"token": SECRET}))
    assert text.startswith(f"can't reach {tls_server.url} (context 'here'): TLS failed: ")
    assert "authority that is not trusted" in text
    assert not tls_server.asked


def test_a_certificate_for_another_name_is_refused_and_a_tls_name_mends_it(
    tls_server: Server, write: Write, keys: Keys
) -> None:
    url = f"https://localhost:{tls_server.port}"
    path = write(url, {"token": SECRET}, **trusted(keys))
    assert "for another name" in failing(kubeconfig=path)
    connect(ConnectOptions(kubeconfig=path, tls_server_name="kauditor.test", qps=0))
    path = write(url, {"token": SECRET}, **trusted(keys), **{"tls-server-name": "kauditor.test"})
    connect(ConnectOptions(kubeconfig=path, qps=0))


def test_the_insecure_flag_verifies_nothing_and_warns_nobody(
    tls_server: Server, write: Write, keys: Keys
) -> None:
    path = write(tls_server.url, {"token": SECRET}, **{"certificate-authority": "missing"})
    connect(ConnectOptions(kubeconfig=path, insecure_skip_tls_verify=True, qps=0))
    path = write(tls_server.url, **{"insecure-skip-tls-verify": True})
    connect(ConnectOptions(kubeconfig=path, qps=0))


def test_the_authority_flag_goes_before_the_kubeconfig(
    tls_server: Server, write: Write, keys: Keys
) -> None:
    path = write(tls_server.url, **{"certificate-authority-data": "bm90aGluZw=="})
    authority = str(keys.folder / "ca.crt")
    connect(ConnectOptions(kubeconfig=path, certificate_authority=authority, qps=0))


@pytest.fixture
def demanding_server(keys: Keys) -> Iterator[Server]:
    yield from serving(keys.server_context(wants_client=True))


def test_a_client_certificate_opens_the_door(
    demanding_server: Server, write: Write, keys: Keys
) -> None:
    names = {"client-certificate": "client.crt", "client-key": "client.key"}
    as_files = {key: str(keys.folder / name) for key, name in names.items()}
    as_data = {
        f"{key}-data": base64.b64encode((keys.folder / name).read_bytes()).decode()
        for key, name in names.items()
    }
    for user in (as_files, as_data):
        path = write(demanding_server.url, user, **trusted(keys))
        connect(ConnectOptions(kubeconfig=path, qps=0))
    path = write(demanding_server.url, {}, **trusted(keys))
    connect(
        ConnectOptions(
            kubeconfig=path,
            client_certificate=as_files["client-certificate"],
            client_key=as_files["client-key"],
            qps=0,
        )
    )


def test_a_login_program_may_give_a_certificate(
    demanding_server: Server,
    write: Write,
    keys: Keys,
    plugin: Callable[..., dict[str, Any]],
) -> None:
    folder = str(keys.folder)
    body = (
        f"read = lambda name: open({folder!r} + '/' + name).read()\n"
        "answer(clientCertificateData=read('client.crt'), clientKeyData=read('client.key'))"
    )
    path = write(demanding_server.url, plugin(ANSWER + body), **trusted(keys))
    connect(ConnectOptions(kubeconfig=path, qps=0))


def test_a_missing_client_certificate_is_a_tls_failure(
    demanding_server: Server, write: Write, keys: Keys
) -> None:
    text = failing(kubeconfig=write(demanding_server.url, {}, **trusted(keys)))
    assert "can't reach" in text


@pytest.mark.parametrize(
    ("user", "cluster", "sentence"),
    [
        ({"client-certificate": "missing"}, {}, "client-certificate .*missing.*no such file"),
        ({}, {"certificate-authority": "missing"}, "certificate-authority .*missing.*no such file"),
        ({}, {"certificate-authority-data": "bm90aGluZw=="}, "is no PEM certificate"),
        ({}, {"certificate-authority-data": "!"}, "is not base64|is no PEM"),
        (
            {"client-certificate-data": "bm90aGluZw==", "client-key-data": "bm90aGluZw=="},
            {},
            "certificate and key of user 'reader' can't be used: they are no PEM",
        ),
        ({"token": "two\nlines"}, {}, "characters that no token has"),
        ({}, {"proxy-url": "socks5://127.0.0.1:1"}, "PySocks"),
        ({}, {"proxy-url": "nonsense"}, "the proxy nonsense can't be used"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_sent(
    write: Write, user: dict[str, Any], cluster: dict[str, Any], sentence: str
) -> None:
    path = write("https://127.0.0.1:1", user, **cluster)
    with pytest.raises(BadKubeconfig, match=sentence):
        connect(ConnectOptions(kubeconfig=path, qps=0))


def test_an_encrypted_key_asks_nobody_for_a_password(
    write: Write, keys: Keys, tmp_path: Path
) -> None:
    subprocess.run(
        [
            *("openssl", "pkcs8", "-topk8", "-in", str(keys.folder / "client.key")),
            *("-out", str(tmp_path / "locked.key"), "-passout", "pass:hunter2"),
        ],
        check=True,
        capture_output=True,
    )
    user = {
        "client-certificate": str(keys.folder / "client.crt"),
        "client-key": str(tmp_path / "locked.key"),
    }
    with pytest.raises(BadKubeconfig, match="key is encrypted"):
        connect(ConnectOptions(kubeconfig=write("https://127.0.0.1:1", user), qps=0))


# Proxies.


def test_a_proxy_of_the_kubeconfig_is_used_with_its_login(server: Server, write: Write) -> None:
    proxy = f"http://user:p%40ss@127.0.0.1:{server.port}"
    path = write("http://cluster.kauditor.test:8080", {"token": SECRET}, **{"proxy-url": proxy})
    server.says("/version", Says({"gitVersion": "v1.34.2"}))
    source = connect(ConnectOptions(kubeconfig=path, qps=0))
    (asked,) = server.asked
    assert asked.target == "http://cluster.kauditor.test:8080/version"
    expected = "Basic " + base64.b64encode(b"user:p@ss").decode()
    assert asked.header("Proxy-Authorization") == expected
    assert "p@ss" not in repr(source.where())


def test_https_proxy_is_honoured_and_no_proxy_too(
    server: Server,
    tls_server: Server,
    write: Write,
    keys: Keys,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    path = write(f"https://kauditor.test:{tls_server.port}", {"token": SECRET}, **trusted(keys))
    connect(ConnectOptions(kubeconfig=path, qps=0))
    assert [one.method for one in server.asked] == ["CONNECT"]
    assert server.asked[0].header("Authorization") == ""
    assert tls_server.requests("/version")
    monkeypatch.setenv("NO_PROXY", "kauditor.test")
    assert "is not known" in failing(kubeconfig=path)
    assert len(server.asked) == 1


def test_this_machine_is_never_asked_through_a_proxy_of_the_environment(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    opened()


def test_a_proxy_that_is_not_there_is_named_as_the_reason(write: Write) -> None:
    proxy = {"proxy-url": "http://user:hunter2@127.0.0.1:1"}
    text = failing(kubeconfig=write("https://cluster.kauditor.test", **proxy))
    assert "proxy" in text and "hunter2" not in text


# What can't be reached.


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_closed_port_is_refused_in_one_sentence(write: Write) -> None:
    url = f"https://127.0.0.1:{closed_port()}"
    assert failing(kubeconfig=write(url)) == (
        f"can't reach {url} (context 'here'): the connection was refused; "
        "check the address and port, and that the server is up."
    )


def test_a_name_that_is_not_known_says_so(write: Write) -> None:
    assert "its name is not known" in failing(kubeconfig=write("https://nowhere.invalid"))


def test_a_server_that_does_not_answer_is_given_up_in_time(server: Server, write: Write) -> None:
    server.says("/version", Says(b"", how="hang", seconds=5.0))
    text = failing(kubeconfig=write(server.url), request_timeout=0.3)
    assert "no answer came in time" in text and "--request-timeout" in text


def test_a_server_that_does_not_answer_before_the_deadline(server: Server, write: Write) -> None:
    server.says("/version", Says(b"", how="hang", seconds=5.0))
    assert "--timeout" in failing(kubeconfig=write(server.url), timeout=0.3)


def test_tls_to_a_server_without_it_says_so(server: Server, write: Write) -> None:
    text = failing(kubeconfig=write(server.url.replace("http:", "https:")))
    assert "TLS failed" in text or "broke off" in text


@pytest.mark.parametrize("how", ["reset", "cut"])
def test_a_connection_that_breaks_off_says_so(server: Server, write: Write, how: str) -> None:
    server.says("/version", Says({"gitVersion": "v1"}, how=how))
    assert "can't reach" in failing(kubeconfig=write(server.url))


def test_a_refused_login_names_the_user(server: Server, write: Write) -> None:
    server.says("/version", Says(status(401, "Unauthorized"), 401))
    text = failing(kubeconfig=write(server.url, {"token": SECRET}))
    assert "refused the login of user 'reader' (401)" in text
    assert SECRET not in text


def test_a_forbidden_version_is_not_the_end(server: Server, opened: Opened) -> None:
    server.says("/version", Says(status(403), 403))
    source = opened()
    with pytest.raises(Refusal, match="403"):
        source.body(Page("/version", Grant(verbs=("get",), path="/version")))


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (Says(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}), "text/html"),
        (Says(b"{}"), "does not answer like a Kubernetes API server"),
        (Says(b"", 302, {"Location": "/login"}), "with 302"),
        (Says(b"", 404), "with 404"),
    ],
)
def test_something_else_at_the_address_is_not_taken_for_an_api_server(
    server: Server, write: Write, says: Says, words: str
) -> None:
    server.says("/version", says)
    assert words in failing(kubeconfig=write(server.url))


# Compression.


def test_nothing_is_compressed_on_this_machine(server: Server, opened: Opened) -> None:
    opened()
    assert server.asked[0].header("Accept-Encoding") == "identity"


def test_compression_is_asked_for_elsewhere_unless_it_is_disabled(
    server: Server, write: Write
) -> None:
    proxied = {"proxy-url": server.url}
    url = "http://cluster.kauditor.test"
    connect(ConnectOptions(kubeconfig=write(url, **proxied), qps=0))
    connect(ConnectOptions(kubeconfig=write(url, **proxied), qps=0, disable_compression=True))
    connect(
        ConnectOptions(kubeconfig=write(url, **proxied, **{"disable-compression": True}), qps=0)
    )
    seen = [one.header("Accept-Encoding") for one in server.asked]
    assert seen == ["gzip", "identity", "identity"]


def test_compressed_pages_are_read_and_counted_as_they_came(server: Server, write: Write) -> None:
    import gzip

    whole = page([f"pod-{number}" for number in range(500)])
    packed = gzip.compress(whole)
    server.says("/api/v1/pods", Says(packed, headers={"Content-Encoding": "gzip"}))
    path = write("http://cluster.kauditor.test", **{"proxy-url": server.url})
    source = connect(ConnectOptions(kubeconfig=path, qps=0))
    assert list(source.pages(PODS)) == [whole]
    (pods,) = [one for one in source.cost().kinds if one.kind == "pods"]
    assert pods.bytes == len(packed)


# Secrets.


def test_no_log_and_no_repr_holds_a_secret(
    server: Server, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    server.says("/api/v1/pods", Says(page(["a"], token="page-token-1")), Says(page(["b"])))
    with caplog.at_level(logging.DEBUG):
        source = opened(as_user="bob")
        list(source.pages(PODS))
    assert "GET /api/v1/pods 200" in caplog.text
    # urllib3's own records name whole addresses; they are shown to nobody who did not ask for them.
    ours = "\n".join(one.getMessage() for one in caplog.records if one.name.startswith("kauditor"))
    options = ConnectOptions(token=SECRET)
    assert SECRET not in caplog.text
    shown = ours + repr(options) + str(options.__rich_repr__()) + repr(source.where())
    assert SECRET not in shown
    assert "page-token-1" not in shown
    assert "Impersonate" not in shown


def test_in_a_pod_the_report_says_that_it_was_read_as_the_pod(
    tls_server: Server, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("pod-token")
    (account / "ca.crt").write_bytes((keys.folder / "ca.crt").read_bytes())
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(tls_server.port))
    from kauditor.sources.live import kubeconfig

    monkeypatch.setattr(
        kubeconfig.choose,
        "__kwdefaults__",
        {
            "environ": None,
            "service_account": account,
        },
    )
    source = connect(ConnectOptions(qps=0))
    assert tls_server.asked[0].header("Authorization") == "Bearer pod-token"
    assert source.where().name == "in-cluster"
    assert "as the pod" in source.notes()[0]
